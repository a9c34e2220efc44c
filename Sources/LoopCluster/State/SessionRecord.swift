package import LoopCore
package import LoopKeys
package import LoopWire

/// What the journal knows of a session: its watermark, and the outcomes that its sender must learn in particular.
package struct SessionRecord: Equatable, Sendable {
    package let peer: PeerID
    /// The key that owns the session, or nil if it was begun without keys.
    package internal(set) var owner: PublicKey?
    /// Every entry up to this number is consumed: applied or refused.
    package internal(set) var watermark: UInt64 = 0
    package internal(set) var notable: [NotableOutcome] = []
    /// The details of the newest refused entries, if they are known. They are not in snapshots, so a sender that asks after a
    /// restart may get only the reason.
    package private(set) var details: [RefusalDetail] = []
    /// The answers to notable entries whose senders have asked.
    package internal(set) var answers = KeptAnswers()
    /// The time since which the session has no record: the start of the epoch after that of its newest record. It is nil if it
    /// has a record in the present epoch.
    package internal(set) var idleSince: WallTime?
    /// Whether every entry so far belonged to an effect. The outcomes of such entries matter only while their peer has the effects.
    package internal(set) var isOnlyOfEffects = true

    /// How many details of refusals are kept.
    private static var detailsMax: Int { 16 }

    init(peer: PeerID) { self.peer = peer }

    mutating func consume(_ number: UInt64, ofEffect: Bool, notable outcome: EntryOutcome?) {
        watermark = number
        idleSince = nil
        if !ofEffect { isOnlyOfEffects = false }
        if let outcome { notable.append(NotableOutcome(number: number, outcome: outcome)) }
    }

    /// Keeps the detail of a refusal, which its sender gets with the reason.
    mutating func keep(_ detail: RefusalDetail) {
        if details.count == Self.detailsMax { details.removeFirst() }
        details.append(detail)
    }

    /// The known details of the refusals in an acknowledgement.
    package func details(of acknowledgement: Acknowledgement) -> [RefusalDetail] {
        details.isEmpty
            ? [] : details.filter { $0.number > acknowledgement.base && $0.number <= acknowledgement.watermark }
    }

    mutating func forget(upTo settled: UInt64) {
        guard let first = notable.first, first.number <= settled else { return }
        notable.removeAll { $0.number <= settled }
        if !details.isEmpty { details.removeAll { $0.number <= settled } }
        if !answers.isEmpty { answers.forget(upTo: settled) }
    }

    package func notable(after number: UInt64) -> [NotableOutcome] {
        guard let last = notable.last, last.number > number else { return [] }
        return notable.filter { $0.number > number }
    }

    /// The acknowledgement of the entries after a number, as far as it fits into one message. It has everything notable up to
    /// its watermark, with the answers. If that is below the session's watermark, the next one continues there.
    package func acknowledgement(after base: UInt64, bytesMax: Int) -> Acknowledgement {
        let notable = notable(after: base)
        guard let first = notable.first, let last = notable.last else {
            return Acknowledgement(base: base, watermark: watermark, notable: [])
        }
        let answers = answers.isEmpty ? [] : answers.within(first.number...last.number)
        var (bytes, count, answered) = (0, 0, 0)
        while count < notable.count {
            var size = NotableOutcome.byteCount
            let hasAnswer = answered < answers.count && answers[answered].number == notable[count].number
            if hasAnswer { size += answers[answered].byteCount }
            if count > 0, bytes + size > bytesMax { break }
            bytes += size
            count += 1
            if hasAnswer { answered += 1 }
        }
        return Acknowledgement(
            base: base, watermark: count == notable.count ? watermark : notable[count - 1].number,
            notable: Array(notable[..<count]), answers: Array(answers[..<answered]))
    }
}

/// The answers of a session that its sender has not confirmed, so that it gets the same ones if it asks again.
package struct KeptAnswers: Equatable, Sendable {
    /// The answers, by ascending numbers.
    package private(set) var items: [NumberedAnswer] = []
    /// How many bytes of the limits they use.
    package private(set) var byteCount = 0

    /// How many bytes of answers one session keeps. Beyond that, its next question is refused as overloaded.
    package static var bytesMax: Int { 1 << 20 }
    /// How many bytes of answers all sessions keep together. Beyond that, the session that keeps the most loses all of its answers.
    package static var totalBytesMax: Int { 64 << 20 }
    /// A replay does not know which answers were confirmed. It keeps as many of the newest ones as there can have been.
    private static var replayBytesMax: Int { bytesMax + Wire.answerBytesMax + overhead }
    /// The cost of a kept answer in addition to its value.
    private static var overhead: Int { 64 }

    package var isEmpty: Bool { items.isEmpty }

    private static func cost(_ item: NumberedAnswer) -> Int { item.byteCount + overhead }

    mutating func keep(_ item: NumberedAnswer) {
        items.append(item)
        byteCount += Self.cost(item)
        var excess = 0
        while byteCount > Self.replayBytesMax, excess < items.count {
            byteCount -= Self.cost(items[excess])
            excess += 1
        }
        if excess > 0 { items.removeFirst(excess) }
    }

    mutating func forget(upTo settled: UInt64) {
        let count = items.firstIndex { $0.number > settled } ?? items.count
        for item in items[..<count] { byteCount -= Self.cost(item) }
        items.removeFirst(count)
    }

    /// The answers to entries within a range of numbers.
    func within(_ numbers: ClosedRange<UInt64>) -> [NumberedAnswer] { items.filter { numbers.contains($0.number) } }
}

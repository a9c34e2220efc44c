package import LoopCore
package import LoopKeys
package import LoopWire

/// What the journal knows of a session: how far it was consumed, and what its sender must be told in particular.
package struct SessionRecord: Equatable, Sendable {
    package let peer: PeerID
    /// The key that the session is of; nil: it was begun without keys.
    package internal(set) var owner: PublicKey?
    /// Every entry up to this number is consumed: applied or refused.
    package internal(set) var watermark: UInt64 = 0
    package internal(set) var notable: [NotableOutcome] = []
    /// Why the newest refused entries were refused, in words, where that is known. Not in snapshots: who asks after a restart may
    /// learn the reason alone.
    package private(set) var details: [RefusalDetail] = []
    /// Of the notable entries that have asked.
    package internal(set) var answers = KeptAnswers()
    /// The time from which on no record is of the session, as the journal knows it: when the epoch after that of its newest
    /// record began. Nil: a record of the present epoch is.
    package internal(set) var idleSince: WallTime?
    /// Whether every entry so far belonged to an effect. The outcomes of such entries matter only while their peer holds the
    /// effects.
    package internal(set) var isOnlyOfEffects = true

    /// For how many refusals the detail is kept.
    private static var detailsMax: Int { 16 }

    init(peer: PeerID) { self.peer = peer }

    mutating func consume(_ number: UInt64, ofEffect: Bool, notable outcome: EntryOutcome?) {
        watermark = number
        idleSince = nil
        if !ofEffect { isOnlyOfEffects = false }
        if let outcome { notable.append(NotableOutcome(number: number, outcome: outcome)) }
    }

    /// Keeps the detail of a refusal, which its sender is told with the reason.
    mutating func keep(_ detail: RefusalDetail) {
        if details.count == Self.detailsMax { details.removeFirst() }
        details.append(detail)
    }

    /// What is known of the refusals that an acknowledgement tells.
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

    /// What is to be told of the entries after a number, as far as it fits into one message: all that is notable up to the
    /// acknowledgement's watermark is in it. If that is below the session's watermark, the next one goes on there.
    package func acknowledgement(after base: UInt64, bytesMax: Int) -> Acknowledgement {
        let notable = notable(after: base)
        if !answers.isEmpty, !notable.isEmpty { return acknowledgement(of: notable, after: base, bytesMax: bytesMax) }
        let countMax = max(1, bytesMax / NotableOutcome.byteCount)
        if notable.count <= countMax { return Acknowledgement(base: base, watermark: watermark, notable: notable) }
        return Acknowledgement(
            base: base, watermark: notable[countMax - 1].number, notable: Array(notable[..<countMax]))
    }

    /// The same where some of it may be answers, which go with their entries.
    private func acknowledgement(
        of notable: [NotableOutcome], after base: UInt64, bytesMax: Int
    ) -> Acknowledgement {
        let answers = answers.within(notable[0].number...notable[notable.count - 1].number)
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

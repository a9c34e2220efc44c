package import LoopWire

/// One session's numbered entries, from the moment they are accepted until their outcome is known. (Protocol, 2.)
///
///     settled ◀─ sent, outcome unknown ─▶ ◀─ accepted, not sent ─▶
///     ────────┼──────────────────────────┼─────────────────────────
///          settled                     sent                  last
///
/// Entries are kept in runs, as they were handed over and as they travel. A run leaves as a whole.
package struct Outbox: Equatable, Sendable {
    /// A run and the number of its first entry.
    private struct Section: Equatable, Sendable {
        var first: UInt64
        var run: EntryRun

        var last: UInt64 { first + UInt64(run.count) - 1 }
    }

    private var sections: [Section] = []
    /// The index of the first section that is not settled. Those before it are dropped together.
    private var head = 0
    /// The number of the newest entry.
    package private(set) var last: UInt64 = 0
    /// Every outcome up to this number is known.
    package private(set) var settled: UInt64 = 0
    /// The newest number that was handed to the socket since the last `goBack`.
    package private(set) var sent: UInt64 = 0
    /// The bytes of the entries whose outcome is not known.
    package private(set) var byteCount = 0
    /// Numbers up to this one may have left, in this process or in an earlier one.
    package private(set) var offered: UInt64 = 0
    /// The difference between the number under which a sender knows an entry and its number in this session. The sender's
    /// numbers continue when entries go to another session.
    package private(set) var base: UInt64 = 0

    /// A section takes single entries up to this number, and up to these bytes, because a batch is of one section.
    private static var entriesMax: Int { 512 }
    private static var bytesMax: Int { 64 << 10 }

    package init() {}

    /// Creates the outbox that an earlier process left behind.
    package init(resuming stream: PeerStream) {
        settled = stream.settled
        last = stream.settled
        sent = stream.settled
        offered = stream.offered
        base = stream.base
        for entry in stream.entries { _ = accept(entry) }
    }

    package var isEmpty: Bool { last == settled }
    package var count: Int { Int(last - settled) }

    /// Numbers an entry and keeps it.
    package mutating func accept(_ entry: Entry) -> UInt64 {
        let index = openSection()
        let before = sections[index].run.byteCount
        sections[index].run.append(entry)
        byteCount += sections[index].run.byteCount - before
        last += 1
        return last
    }

    /// Numbers the entries of a run and keeps them.
    /// - Returns: the number of the first.
    package mutating func accept(_ run: EntryRun) -> UInt64 {
        let first = last + 1
        guard !run.isEmpty else { return first }
        if run.count < Self.entriesMax / 8 {
            sections[openSection()].run.append(run)
        } else {
            sections.append(Section(first: first, run: run))
        }
        last += UInt64(run.count)
        byteCount += run.byteCount
        return first
    }

    /// The index of the section that takes what comes next.
    private mutating func openSection() -> Int {
        if let newest = sections.last, newest.run.startIndex == 0, sections.count > head,
            newest.run.count < Self.entriesMax, newest.run.byteCount < Self.bytesMax
        {
            return sections.count - 1
        }
        sections.append(Section(first: last + 1, run: EntryRun()))
        return sections.count - 1
    }

    /// The next entries to be sent, within these limits, or nil when all are sent.
    package mutating func next(entriesMax: Int, bytesMax: Int) -> (first: UInt64, entries: EntryRun)? {
        guard sent < last, let index = section(of: sent + 1) else { return nil }
        let (first, run) = (sections[index].first, sections[index].run)
        let start = run.startIndex + Int(sent + 1 - first)
        let end = start + min(entriesMax, run.count(from: start, bytesMax: bytesMax))
        defer {
            sent += UInt64(end - start)
            offered = max(offered, sent)
        }
        return (sent + 1, run[start..<end])
    }

    /// The index of the section with a number whose outcome is not known.
    private func section(of number: UInt64) -> Int? {
        var (low, high) = (head, sections.count)
        while low < high {
            let middle = (low + high) / 2
            if sections[middle].last < number { low = middle + 1 } else { high = middle }
        }
        return low < sections.count && sections[low].first <= number ? low : nil
    }

    /// Marks everything after `number` to be sent again.
    package mutating func goBack(to number: UInt64) { sent = min(sent, max(number, settled)) }

    /// Settles the entries up to `watermark`, whose outcomes are known.
    /// - Parameter told: the notable outcomes, by ascending numbers. Every other entry was applied.
    /// - Returns: the settled entries that end an effect's attempt, that want their seq, or that have a notable outcome. They
    ///   come with their numbers, ascending, and their outcomes.
    package mutating func settle(
        upTo watermark: UInt64, told: [NotableOutcome]
    ) -> [(number: UInt64, entry: EntryHead, outcome: EntryOutcome)] {
        var done: [(number: UInt64, entry: EntryHead, outcome: EntryOutcome)] = []
        var nextTold = 0
        let end = min(watermark, last)
        while settled < end, head < sections.count {
            let section = sections[head]
            let count = Int(min(end, section.last) - settled)
            let start = section.run.startIndex + Int(settled + 1 - section.first)
            byteCount -= section.run.byteCount(of: start..<start + count)
            let through = settled + UInt64(count)
            while nextTold < told.count, told[nextTold].number <= settled { nextTold += 1 }
            if section.run.isPlain {
                while nextTold < told.count, told[nextTold].number <= through {
                    let (number, outcome) = (told[nextTold].number, told[nextTold].outcome)
                    done.append((number, section.run.head(at: start + Int(number - settled) - 1), outcome))
                    nextTold += 1
                }
            } else {
                for index in start..<start + count {
                    let entry = section.run.head(at: index)
                    let number = settled + 1 + UInt64(index - start)
                    while nextTold < told.count, told[nextTold].number < number { nextTold += 1 }
                    if nextTold < told.count, told[nextTold].number == number {
                        done.append((number, entry, told[nextTold].outcome))
                    } else if entry.endsTheBody || entry.wantsSeq {
                        done.append((number, entry, .applied(.initial)))
                    }
                }
            }
            settled = through
            if settled == section.last { head += 1 }
        }
        sent = max(sent, settled)
        if head == sections.count || head > 64 {
            sections.removeFirst(head)
            head = 0
        }
        return done
    }

    /// Begins the next session, because this one is gone. Entries that may have left are lost. Those that never left begin the
    /// next session's stream, except those of an effect, which ended with the session.
    /// - Returns: what is lost, with the numbers that its senders know.
    package mutating func loseSession() -> [(number: UInt64, entry: Entry)] {
        let all = unsettled.map { (number: base + $0.number, entry: $0.entry) }
        let firstKept = all.lastIndex { $0.number <= base + offered || $0.entry.effect != nil }.map { $0 + 1 } ?? 0
        var next = Outbox()
        next.base = firstKept < all.count ? all[firstKept].number - 1 : base + last
        for (_, entry) in all[firstKept...] { _ = next.accept(entry) }
        self = next
        return Array(all[..<firstKept])
    }

    /// The entries above a number whose outcome is not known.
    package func entries(after number: UInt64) -> [Entry] {
        guard max(number, settled) < last else { return [] }
        let first = max(number, settled) + 1
        guard var index = section(of: first) else { return [] }
        var entries: [Entry] = []
        entries.reserveCapacity(Int(last - first + 1))
        while index < sections.count {
            let section = sections[index]
            entries += section.run.dropFirst(first > section.first ? Int(first - section.first) : 0)
            index += 1
        }
        return entries
    }

    /// The entry under a number, or nil if its outcome is known or there is none.
    package func entry(_ number: UInt64) -> Entry? {
        guard number > settled, number <= last, let index = section(of: number) else { return nil }
        let section = sections[index]
        return section.run[section.run.startIndex + Int(number - section.first)]
    }

    /// The entries whose outcome is not known, with their numbers.
    package var unsettled: [(number: UInt64, entry: Entry)] {
        entries(after: settled).enumerated().map { (settled + 1 + UInt64($0.offset), $0.element) }
    }
}

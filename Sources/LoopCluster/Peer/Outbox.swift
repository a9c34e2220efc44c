package import LoopWire

/// One session's numbered entries, from the moment they are accepted until their outcome is known. (Protocol, 2.)
///
///     settled ◀─ sent, outcome unknown ─▶ ◀─ accepted, not sent ─▶
///     ────────┼──────────────────────────┼─────────────────────────
///          settled                     sent                  last
package struct Outbox: Equatable, Sendable {
    private var entries: [Entry] = []
    /// Entries before this index of `entries` are settled and wait to be dropped together.
    private var head = 0
    /// Every outcome up to this number is known.
    package private(set) var settled: UInt64 = 0
    /// The newest number that was handed to the socket since the last going back.
    package private(set) var sent: UInt64 = 0
    package private(set) var byteCount = 0
    /// Numbers up to this one may have left, in this process or in an earlier one.
    package private(set) var offered: UInt64 = 0
    /// What is added to a number of this session to get the one under which its sender knows the entry: that one goes on
    /// where entries go over to another session.
    package private(set) var base: UInt64 = 0

    package init() {}

    /// The outbox that an earlier process left.
    package init(resuming stream: PeerStream) {
        entries = stream.entries
        settled = stream.settled
        sent = stream.settled
        offered = stream.offered
        base = stream.base
        byteCount = entries.reduce(0) { $0 + $1.payload.count + Entry.overhead }
    }

    package var last: UInt64 { settled + UInt64(entries.count - head) }
    package var isEmpty: Bool { entries.count == head }
    package var count: Int { entries.count - head }

    /// Numbers an entry and keeps it.
    package mutating func accept(_ entry: Entry) -> UInt64 {
        entries.append(entry)
        byteCount += entry.payload.count + Entry.overhead
        return last
    }

    /// The next entries to be sent, at most so many and so large together; nil when all are sent.
    package mutating func next(entriesMax: Int, bytesMax: Int) -> (first: UInt64, entries: [Entry])? {
        guard sent < last else { return nil }
        let start = head + Int(sent - settled)
        var end = start
        var bytes = 0
        while end < entries.count, end - start < entriesMax {
            bytes += entries[end].payload.count + Entry.overhead
            if bytes > bytesMax, end > start { break }
            end += 1
        }
        let first = sent + 1
        sent += UInt64(end - start)
        offered = max(offered, sent)
        return (first, Array(entries[start..<end]))
    }

    /// Everything after `number` is to be sent again.
    package mutating func goBack(to number: UInt64) { sent = min(sent, max(number, settled)) }

    /// The outcomes up to `watermark` are known.
    /// - Returns: the settled entries with their numbers.
    package mutating func settle(upTo watermark: UInt64) -> [(number: UInt64, entry: Entry)] {
        var done: [(number: UInt64, entry: Entry)] = []
        while settled < watermark, head < entries.count {
            settled += 1
            let entry = entries[head]
            byteCount -= entry.payload.count + Entry.overhead
            done.append((settled, entry))
            head += 1
        }
        sent = max(sent, settled)
        if head > 1024 || head == entries.count {
            entries.removeFirst(head)
            head = 0
        }
        return done
    }

    /// The session is gone. What may have left is nobody's any more; what never left begins the next session's stream,
    /// unless it speaks for an effect, which went with the session.
    /// - Returns: what is nobody's any more, with the numbers its senders know.
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
        guard number < last else { return [] }
        return Array(entries[(head + Int(max(number, settled) - settled))...])
    }

    /// The entry under a number whose outcome is not known; nil: there is none.
    package func entry(_ number: UInt64) -> Entry? {
        guard number > settled, number <= last else { return nil }
        return entries[head + Int(number - settled) - 1]
    }

    /// Every entry whose outcome is not known, with its number.
    package var unsettled: [(number: UInt64, entry: Entry)] {
        entries[head...].enumerated().map { (settled + 1 + UInt64($0.offset), $0.element) }
    }
}

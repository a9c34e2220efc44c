import LoopCore
import LoopWire

/// A session's entries on their way to the reducer. It knows which are accepted, how far they are read and settled, and which
/// are sent again. (Protocol, section 2.)
///
///     accept ──▶ outbox ── next ──▶ sent ── acknowledgement ──▶ settled
///                  ▲                  │
///                  └── lost, or stuck ┘
struct Delivery: Sendable {
    private(set) var outbox = Outbox()
    /// How far outcomes are on disk, or nil if the stream ends with the process. The reducer gets no higher number, because it
    /// forgets the outcomes of what is settled.
    private var keptSettled: UInt64?
    /// Whether the reducer knows outcomes that this peer does not.
    private(set) var needsOutcomes = false
    /// When an outcome last came, or the oldest entry was accepted.
    private var progressAt = MonotonicTime.zero
    /// When entries were last marked to be sent again.
    private var resentAt = MonotonicTime.zero
    private var standing = ReadStanding()
    /// How many new sockets were made since an outcome last came.
    private var pushRebuilds = 0
    /// Whether an event was refused for lack of space.
    private var hadNoSpace = false
    /// How many entries the outbox may have before an event is accepted.
    private let eventsMax: Int
    private let bytesMax: Int

    private static var pushRebuildsMax: Int { 3 }

    init(_ configuration: PeerConfiguration) {
        eventsMax = configuration.outboxEntriesMax - configuration.outboxEntriesReserved
        bytesMax = configuration.outboxBytesMax
    }

    /// Continues the stream of an earlier process.
    mutating func resume(_ stream: PeerStream) { outbox = Outbox(resuming: stream) }

    /// Takes note that outcomes up to this number are on disk.
    mutating func kept(settled: UInt64) { keptSettled = settled }

    /// The number up to which every outcome is known for good.
    var settledForGood: UInt64 { min(outbox.settled, keptSettled ?? .max) }

    // MARK: From the process

    /// Whether an event is accepted. If not, `noticesSpace` says when there is space again.
    /// - Parameters:
    ///   - count: how many entries the outbox is about to get before this event.
    ///   - bytes: how many bytes those entries have.
    @inline(__always)
    mutating func takesEvent(after count: Int, bytes: Int, _ rules: BrokenRules) -> Bool {
        if hasSpace(after: count, bytes: bytes, rules) { return true }
        hadNoSpace = true
        return false
    }

    @inline(__always)
    private func hasSpace(after count: Int, bytes: Int, _ rules: BrokenRules) -> Bool {
        rules.contains(.outboxesAreBounded)
            || outbox.count + count < eventsMax && outbox.byteCount + bytes < bytesMax
    }

    /// Whether there is space now for an event that found none before. Called after the space may have changed.
    mutating func noticesSpace(_ rules: BrokenRules) -> Bool {
        guard hadNoSpace, hasSpace(after: 0, bytes: 0, rules) else { return false }
        hadNoSpace = false
        return true
    }

    mutating func accept(_ range: Range<Int>, of run: EntryRun, at now: MonotonicTime) {
        if range.isEmpty { return }
        if outbox.isEmpty { progressAt = now }
        if range == run.startIndex..<run.endIndex {
            _ = outbox.accept(run)
        } else {
            var part = EntryRun()
            part.append(run[range])
            _ = outbox.accept(part)
        }
    }

    // MARK: To the socket

    /// The next entries to push, or nil if all have left.
    mutating func next() -> (first: UInt64, entries: EntryRun)? { outbox.next(entriesMax: 512, bytesMax: 256 << 10) }

    /// Takes back what begins with this number, because the socket did not take it.
    mutating func goBack(before first: UInt64) { outbox.goBack(to: first - 1) }

    /// The remedy for entries that stay unsettled for the limit while ticks come. The PUSH socket takes nothing, or does not
    /// deliver.
    enum Remedy: Equatable {
        case newSocket
        /// Another session, because new sockets did not help.
        case newSession
    }

    /// - Returns: the action to take now, after which everything is sent again, or nil if nothing is stuck.
    mutating func remedy(at now: MonotonicTime, after limit: Duration) -> Remedy? {
        guard !outbox.isEmpty, now - progressAt > limit else { return nil }
        progressAt = now
        outbox.goBack(to: outbox.settled)
        pushRebuilds += 1
        if pushRebuilds <= Self.pushRebuildsMax { return .newSocket }
        pushRebuilds = 0
        return .newSession
    }

    // MARK: From the reducer

    /// Whether the reducer has consumed entries of this session that never left here. Then a copy of the outbox file or a
    /// forger uses its numbers. What was consumed under a number may not be the entry that has it here.
    func isForeign(_ watermark: UInt64, _ rules: BrokenRules) -> Bool {
        watermark > outbox.offered && !rules.contains(.foreignUseIsNoticed)
    }

    /// Takes note that the peer is admitted. What is not settled is sent again.
    mutating func admit(_ watermark: UInt64, at now: MonotonicTime) {
        standing = ReadStanding()
        outbox.goBack(to: outbox.settled)
        progressAt = now
        if watermark > outbox.settled { needsOutcomes = true }
    }

    mutating func hear(_ tick: Tick, at now: MonotonicTime, every interval: Duration, _ rules: BrokenRules) {
        if tick.watermark > outbox.settled { needsOutcomes = true }
        let isMissing =
            standing.note(tick, sent: outbox.sent, over: interval * 2) || rules.contains(.slownessIsNotLoss)
        if tick.received < outbox.sent, tick.resend || isMissing && now - max(progressAt, resentAt) > interval {
            outbox.goBack(to: tick.received)
            standing = ReadStanding()
            resentAt = now
        }
    }

    /// Whether outcomes can be used, because none is missing between the settled entries and their base. If not, they are
    /// requested.
    mutating func takes(_ acknowledgement: Acknowledgement, _ rules: BrokenRules) -> Bool {
        if acknowledgement.base <= outbox.settled || rules.contains(.acknowledgementsHaveABase) { return true }
        needsOutcomes = true
        return false
    }

    /// Takes outcomes that were requested.
    /// - Returns: whether they can be used.
    mutating func takesAnswer(_ outcomes: Acknowledgement) -> Bool {
        guard outcomes.base <= outbox.settled else { return false }
        needsOutcomes = false
        return true
    }

    /// Takes note that the loop has ended. Only the outcomes remain to be learned.
    mutating func end() { needsOutcomes = !outbox.isEmpty }

    /// Settles the entries up to the watermark, whose outcomes are known.
    /// - Parameter told: the notable outcomes, by ascending numbers.
    /// - Returns: the settled entries that ``Outbox/settle(upTo:told:)`` returns.
    mutating func settle(
        upTo watermark: UInt64, told: [NotableOutcome], at now: MonotonicTime
    ) -> [(number: UInt64, entry: EntryHead, outcome: EntryOutcome)] {
        progressAt = now
        pushRebuilds = 0
        return outbox.settle(upTo: watermark, told: told)
    }

    /// Gives up all unsettled entries, because the reducer has ended its loop and is gone. What never left was not applied;
    /// what may have left may have been.
    /// - Returns: the numbers that senders know, ascending, and why each is refused.
    mutating func giveUp(_ rules: BrokenRules) -> [(number: UInt64, reason: SendRefusal.Reason)] {
        let (base, offered) = (outbox.base, rules.contains(.unheardIsNotRefused) ? 0 : outbox.offered)
        defer { _ = outbox.settle(upTo: outbox.last, told: []) }
        return outbox.unsettled.map { (base + $0.number, $0.number > offered ? .ended : .historyChanged) }
    }

    /// Takes note that the session is gone, and with it all outcomes of unsettled entries. If the stream is on disk, entries
    /// that were never sent go to the next session.
    /// - Returns: the numbers, as senders know them, of the entries that are lost.
    mutating func loseSession() -> [UInt64] {
        (needsOutcomes, pushRebuilds) = (false, 0)
        if keptSettled != nil {
            keptSettled = 0
            return outbox.loseSession().map(\.number)
        }
        defer { outbox = Outbox() }
        return outbox.unsettled.map(\.number)
    }
}

/// How far the reducer has read a session's entries, as its ticks say.
struct ReadStanding: Equatable, Sendable {
    var received: UInt64 = 0
    /// The reducer's clock when it first reported this number.
    var stamp: UInt64 = 0
    /// The number up to which entries had left here when that tick came.
    var sent: UInt64 = 0

    /// Takes note of a tick.
    /// - Returns: whether entries that had left are missing. They are if, for this whole interval by its own clock, the reducer
    ///   read all that had arrived and nothing of them. What left just before the first of the two ticks came has arrived by then.
    mutating func note(_ tick: Tick, sent: UInt64, over interval: Duration) -> Bool {
        guard tick.received == received, self.sent > received, tick.stamp >= stamp else {
            self = ReadStanding(received: tick.received, stamp: tick.stamp, sent: sent)
            return false
        }
        return tick.stamp - stamp >= UInt64(interval.wholeNanoseconds)
    }
}

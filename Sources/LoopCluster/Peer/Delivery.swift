import LoopCore
import LoopWire

/// A session's entries on their way to the reducer: what is accepted, how far it is read and settled, and what is sent again.
/// (Protocol, section 2.)
///
///     accept ──▶ outbox ── next ──▶ sent ── acknowledgement ──▶ settled
///                  ▲                  │
///                  └── lost, or stuck ┘
struct Delivery: Sendable {
    private(set) var outbox = Outbox()
    /// Of a stream that outlives its process: how far the outcomes are on disk. The reducer is told no more than that,
    /// for it forgets the outcomes of what is settled. nil: the stream ends with the process.
    private var keptSettled: UInt64?
    /// The reducer knows outcomes that this peer does not.
    private(set) var needsOutcomes = false
    /// When an outcome was last heard, or the oldest entry was accepted.
    private var progressAt = MonotonicTime.zero
    /// When entries were last to be sent again.
    private var resentAt = MonotonicTime.zero
    private var standing = ReadStanding()
    /// How many new sockets were made since an outcome was last heard.
    private var pushRebuilds = 0
    /// An event found no space.
    private var hadNoSpace = false
    /// How many entries there may be before an event is accepted.
    private let eventsMax: Int
    private let bytesMax: Int

    private static var pushRebuildsMax: Int { 3 }

    init(_ configuration: PeerConfiguration) {
        eventsMax = configuration.outboxEntriesMax - configuration.outboxEntriesReserved
        bytesMax = configuration.outboxBytesMax
    }

    /// Goes on with the stream of an earlier process.
    mutating func resume(_ stream: PeerStream) { outbox = Outbox(resuming: stream) }

    /// The stream is on disk with outcomes up to this number.
    mutating func kept(settled: UInt64) { keptSettled = settled }

    /// Every outcome up to here is known for good.
    var settledForGood: UInt64 { min(outbox.settled, keptSettled ?? .max) }

    // MARK: From the process

    /// Whether an event is accepted. If not, `noticesSpace` says when one is again.
    /// - Parameters:
    ///   - count: how many more entries the outbox is about to get before it.
    ///   - bytes: how many bytes those have.
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

    /// Whether an event that found no space would find it now. Asked once it may have changed.
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

    /// The next entries to push; nil: all have left.
    mutating func next() -> (first: UInt64, entries: EntryRun)? { outbox.next(entriesMax: 512, bytesMax: 256 << 10) }

    /// The socket did not take what begins with this number.
    mutating func goBack(before first: UInt64) { outbox.goBack(to: first - 1) }

    /// The remedy for entries that stay unsettled for the limit while ticks come: the PUSH takes nothing, or does not deliver.
    enum Remedy: Equatable {
        case newSocket
        /// New sockets did not help.
        case newSession
    }

    /// - Returns: what is to be done now; then everything is sent again. nil: nothing is stuck.
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

    /// Whether the reducer has consumed entries of this session that never left here: its numbers are used elsewhere, by a copy
    /// of its outbox file or by a forger. What was consumed under a number is then not known to be the entry that has it here.
    func isForeign(_ watermark: UInt64, _ rules: BrokenRules) -> Bool {
        watermark > outbox.offered && !rules.contains(.foreignUseIsNoticed)
    }

    /// The peer is admitted: what is not settled is sent again.
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

    /// Whether outcomes from a base on can be used: none is missing between. If not, they are asked for.
    mutating func takes(_ acknowledgement: Acknowledgement, _ rules: BrokenRules) -> Bool {
        if acknowledgement.base <= outbox.settled || rules.contains(.acknowledgementsHaveABase) { return true }
        needsOutcomes = true
        return false
    }

    /// Outcomes have come that were asked for.
    /// - Returns: whether they can be used.
    mutating func takesAnswer(_ outcomes: Acknowledgement) -> Bool {
        guard outcomes.base <= outbox.settled else { return false }
        needsOutcomes = false
        return true
    }

    /// The loop has ended: what is left is to learn the outcomes.
    mutating func end() { needsOutcomes = !outbox.isEmpty }

    /// The outcomes up to the watermark are known.
    /// - Parameter told: the outcomes that were told, by ascending numbers.
    /// - Returns: the settled entries that ``Outbox/settle(upTo:told:)`` returns.
    mutating func settle(
        upTo watermark: UInt64, told: [NotableOutcome], at now: MonotonicTime
    ) -> [(number: UInt64, entry: EntryHead, outcome: EntryOutcome)] {
        progressAt = now
        pushRebuilds = 0
        return outbox.settle(upTo: watermark, told: told)
    }

    /// The reducer has ended its loop and is gone: the other outcomes cannot be learned any more. What never left was not
    /// applied; what may have left may have been.
    /// - Returns: the numbers that senders know, ascending, and why each is refused.
    mutating func giveUp(_ rules: BrokenRules) -> [(number: UInt64, reason: SendRefusal.Reason)] {
        let (base, offered) = (outbox.base, rules.contains(.unheardIsNotRefused) ? 0 : outbox.offered)
        defer { _ = outbox.settle(upTo: outbox.last, told: []) }
        return outbox.unsettled.map { (base + $0.number, $0.number > offered ? .ended : .historyChanged) }
    }

    /// The session is gone: nothing is known of what was not settled. What a sender keeps and has never sent goes over to the
    /// next session.
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

/// Up to where the reducer has read a session's entries, as its ticks say.
struct ReadStanding: Equatable, Sendable {
    var received: UInt64 = 0
    /// The reducer's clock when it first said so.
    var stamp: UInt64 = 0
    /// What had left here when that was heard.
    var sent: UInt64 = 0

    /// Takes notice of a tick.
    /// - Returns: whether entries that had left are missing: for all of this interval, by its own clock, the reducer has read all
    ///   that had arrived, and nothing of them. What left just before the first of the two ticks was heard has arrived by then.
    mutating func note(_ tick: Tick, sent: UInt64, over interval: Duration) -> Bool {
        guard tick.received == received, self.sent > received, tick.stamp >= stamp else {
            self = ReadStanding(received: tick.received, stamp: tick.stamp, sent: sent)
            return false
        }
        return tick.stamp - stamp >= UInt64(interval.wholeNanoseconds)
    }
}

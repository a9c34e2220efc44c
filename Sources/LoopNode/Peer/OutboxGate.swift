import LoopCollections
import LoopCore
import LoopLock
import LoopWire

/// What the process has left for the thread that owns a peer's sockets, in the order in which it was left.
struct PostedEntries: Sendable {
    /// Events, and the ends of effects.
    var run = EntryRun()
    /// The senders that wait for what becomes of an event, by its index in the run. The gate knows each by its ticket.
    var waiters: [(index: Int, ticket: UInt64)] = []
    /// The peer is to hand back what it runs, and to end.
    var isStop = false
    /// The newest report of each attempt that has made one. A report wakes no thread.
    var progress: [EffectID: AttemptProgress] = [:]

    fileprivate var isEmpty: Bool { run.isEmpty && !isStop }

    fileprivate mutating func removeAll() {
        run.removeAll()
        waiters.removeAll(keepingCapacity: true)
        isStop = false
        if !progress.isEmpty { progress.removeAll() }
    }
}

/// What a sender that waits learns of its event.
struct Settlement: Equatable, Sendable {
    /// The state that the event made. Its seq is `.initial` if the sender did not ask for it, or if it is not known any more.
    var state = StateID.none
    /// What is answered to it; nil: its sender has not asked, or the answer is kept no longer.
    var answer: EntryAnswer?

    /// Of an event that was accepted, and of which nothing else is wanted.
    static var accepted: Settlement { Settlement() }
}

/// Lets entries into the outbox of a peer. Senders wait while it has no room (G10).
///
///     send ──▶ line ──── room ────▶ posted ── the owning thread takes it ──▶ the machine's outbox
///                └ cancelled, closed: refused                          end ──▶ posted: never waits
///
/// A sender that finds an empty line and room posts at once. Otherwise its entry waits in the line, and is posted in its turn when
/// the owning thread reports room. The gate resumes and signals after it has given its lock back.
final class OutboxGate: Sendable {
    /// Nil: there is no room.
    private typealias Reply = CheckedContinuation<Result<Settlement, SendRefusal>?, Never>

    private struct State {
        let countMax: Int
        let bytesMax: Int
        let keeps: Bool
        /// Senders that wait for room, in the order in which they came.
        var line: [(ticket: UInt64, entry: Entry, reply: Reply)] = []
        var posted = PostedEntries()
        /// What the outbox held when the owning thread last said so, and what that has taken since.
        var outboxCount = 0
        var outboxBytes = 0
        /// Senders that wait for what becomes of an event that was posted.
        var replies = HashTable<UInt64, Reply>()
        var lastTicket: UInt64 = 0
        /// Why nothing is accepted any more.
        var closed: SendRefusal?
        /// The owning thread will look at what is posted before it sleeps.
        var isAwake = false

        var hasSpace: Bool {
            posted.run.count + outboxCount < countMax && posted.run.byteCount + outboxBytes < bytesMax
        }

        mutating func nextTicket() -> UInt64 {
            lastTicket += 1
            return lastTicket
        }

        /// Posts an entry, for which there is room.
        /// - Returns: the sender, if that waits for nothing else.
        mutating func post(_ entry: Entry, _ ticket: UInt64, _ reply: Reply) -> Reply? {
            let waits = entry.wantsSeq || keeps
            if waits {
                posted.waiters.append((posted.run.count, ticket))
                replies.updateValue(reply, forKey: ticket)
            }
            posted.run.append(entry)
            return waits ? nil : reply
        }

        /// Moves entries from the line to those that are posted, while there is room.
        /// - Returns: the senders that wait for nothing else.
        mutating func letIn() -> [Reply] {
            var accepted: [Reply] = []
            var count = 0
            while count < line.count, hasSpace {
                let (ticket, entry, reply) = line[count]
                count += 1
                if let reply = post(entry, ticket, reply) { accepted.append(reply) }
            }
            line.removeFirst(count)
            return accepted
        }
    }

    private let state: Locked<State>
    let wakeup: Wakeup
    let killSwitch = KillSwitch()

    /// - Parameters:
    ///   - countMax: how many entries may be posted or in the outbox before senders wait.
    ///   - bytesMax: how many bytes these entries may have.
    ///   - keeps: whether an event is accepted only once it is on disk.
    /// - Throws: when there are no descriptors left.
    init(countMax: Int, bytesMax: Int, keeps: Bool = false) throws(SystemError) {
        state = Locked(State(countMax: countMax, bytesMax: bytesMax, keeps: keeps))
        wakeup = try Wakeup()
    }

    /// Readable when there is something to take.
    var descriptor: Int32 { wakeup.descriptor }

    /// Changes the state, and wakes the owning thread if that sleeps and has something to take, and had nothing before.
    private func change<Value: Sendable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let (value, wakes) = try state.withLock { (state) throws(Failure) in
            let wasEmpty = state.posted.isEmpty
            let value = try body(&state)
            return (value, wasEmpty && !state.posted.isEmpty && !state.isAwake)
        }
        if wakes { wakeup.signal() }
        return value
    }

    /// How many senders wait for room.
    var lineCount: Int { state.withLock { $0.line.count } }

    // MARK: Senders

    /// Hands an event over.
    ///
    /// Returns when the event is accepted (and on disk, where events are kept); if it wants its seq, when its outcome is known.
    /// - Returns: the state that the event made if it wants that, else one with the seq `.initial`.
    /// - Throws: why the event was not accepted or, if it wants its seq, not applied.
    @discardableResult @inline(__always)
    nonisolated(nonsending) func send(_ event: Entry) async throws(SendRefusal) -> StateID {
        try await settle(event).state
    }

    /// Hands an event over, as `send` does.
    /// - Returns: what its sender wants to know of it.
    @inline(__always)
    nonisolated(nonsending) func settle(_ event: Entry) async throws(SendRefusal) -> Settlement {
        if event.effect != nil, Task.isCancelled { throw SendRefusal(.cancelled) }
        switch try post(event) {
        case .posted: return .accepted
        case .wantsOutcome:
            // Only who stands in the line has to hear that it is cancelled.
            if let result = await withCheckedContinuation({ postIfRoom(event, $0) }) { return try result.get() }
        case .full: break
        }
        return try await waitInLine(with: event).get()
    }

    private enum Entrance {
        case posted
        /// There is room, and the sender waits for what becomes of the event.
        case wantsOutcome
        case full
    }

    /// Posts an event if its sender need not wait for anything.
    private func post(_ event: Entry) throws(SendRefusal) -> Entrance {
        try change { (state) throws(SendRefusal) in
            if let closed = state.closed { throw closed }
            guard state.line.isEmpty, state.hasSpace else { return .full }
            if event.wantsSeq || state.keeps { return .wantsOutcome }
            state.posted.run.append(event)
            return .posted
        }
    }

    /// Posts an event whose sender waits for what becomes of it, if there is room.
    private func postIfRoom(_ event: Entry, _ reply: Reply) {
        let isPosted = change { state in
            guard state.closed == nil, state.line.isEmpty, state.hasSpace else { return false }
            _ = state.post(event, state.nextTicket(), reply)
            return true
        }
        if !isPosted { reply.resume(returning: nil) }
    }

    /// Waits for room, and then for what the sender of an event wants to know of it.
    private nonisolated(nonsending) func waitInLine(with event: Entry) async -> Result<Settlement, SendRefusal> {
        let ticket = state.withLock { $0.nextTicket() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { reply in
                enter(ticket, event, reply)
                // A handler that came before has found nothing in the line.
                if Task.isCancelled { leave(ticket) }
            }
        } onCancel: {
            leave(ticket)
        }
        guard let result else { preconditionFailure("a sender that waits for room was told that there is none") }
        return result
    }

    private func enter(_ ticket: UInt64, _ event: Entry, _ reply: Reply) {
        let (accepted, closed) = change { state -> ([Reply], SendRefusal?) in
            if let closed = state.closed { return ([], closed) }
            state.line.append((ticket, event, reply))
            return (state.letIn(), nil)
        }
        if let closed { reply.resume(returning: .failure(closed)) }
        for reply in accepted { reply.resume(returning: .success(.accepted)) }
    }

    /// The sender of an event was cancelled: the event leaves the line, if it still stands there.
    private func leave(_ ticket: UInt64) {
        let reply = state.withLock { state -> Reply? in
            guard let place = state.line.firstIndex(where: { $0.ticket == ticket }) else { return nil }
            return state.line.remove(at: place).reply
        }
        reply?.resume(returning: .failure(SendRefusal(.cancelled)))
    }

    /// Hands over that an effect's body has ended. Never waits and is never refused: a part of the outbox is kept for ends.
    /// - Parameter failure: what the body threw; nil: it returned.
    func end(_ effect: EffectID, _ attempt: Attempt, _ failure: Failure?) {
        let end = Entry(endOf: effect, attempt, failure)
        change { $0.posted.run.append(end) }
    }

    /// Hands over how far a body has come. It leaves with the next heartbeat.
    func report(_ progress: AttemptProgress) {
        state.withLock { if $0.closed == nil { $0.posted.progress[progress.effect] = progress } }
    }

    /// Asks the peer to hand back what it runs, and to end.
    func requestStop() { change { $0.posted.isStop = true } }

    /// Ends the owning thread's work with `NodeKilled`. Nothing is accepted any more, and all who wait are told so.
    func kill() {
        killSwitch.kill()
        close(SendRefusal(.ended, detail: "\(NodeKilled())"), mayBeApplied: true)
        wakeup.signal()
    }

    // MARK: The owning thread

    /// The thread is awake: it will call `maySleep` before it sleeps. Until then nothing signals.
    func begin() { state.withLock { $0.isAwake = true } }

    /// Whether nothing is posted. From then on what is posted wakes the thread.
    func maySleep() -> Bool {
        state.withLock { state in
            state.isAwake = !state.posted.isEmpty
            return !state.isAwake
        }
    }

    /// Takes everything that was posted. `posted` gives its storage in exchange, so two of them suffice for life.
    /// - Parameter isSignalled: whether the descriptor may be readable.
    func take(into posted: inout PostedEntries, isSignalled: Bool) {
        posted.removeAll()
        // Drained first: what is posted after the exchange finds nothing there and signals again.
        if isSignalled { wakeup.drain() }
        state.withLock { state in
            swap(&state.posted, &posted)
            state.outboxCount += posted.run.count
            state.outboxBytes += posted.run.byteCount
        }
    }

    /// What was taken has reached the machine, whose outbox now holds so much: those in the line are let in.
    func report(outboxCount: Int, outboxBytes: Int) {
        let accepted = change { state in
            (state.outboxCount, state.outboxBytes) = (outboxCount, outboxBytes)
            return state.letIn()
        }
        for reply in accepted { reply.resume(returning: .success(.accepted)) }
    }

    /// What senders have waited for has come: their events are on disk, or the outcomes are known.
    func resolve(_ results: [(ticket: UInt64, result: Result<Settlement, SendRefusal>)]) {
        for (ticket, result) in results {
            let reply = state.withLock { $0.replies.removeValue(forKey: ticket) }
            reply?.resume(returning: result)
        }
    }

    /// Nothing is accepted any more. Senders that wait for room are refused.
    /// - Parameter mayBeApplied: whether events that were accepted may have been applied although their outcomes are not known.
    ///   Then those who wait for an outcome are told just that, as ``SendRefusal/Reason/historyChanged``.
    func close(_ refusal: SendRefusal, mayBeApplied: Bool) {
        let (refused, unknown) = state.withLock { state in
            state.closed = state.closed ?? refusal
            defer { (state.line, state.replies) = ([], HashTable()) }
            return (state.line.map(\.reply), state.replies.map(\.value))
        }
        for reply in refused { reply.resume(returning: .failure(refusal)) }
        let reason = mayBeApplied ? SendRefusal(.historyChanged, detail: refusal.detail) : refusal
        for reply in unknown { reply.resume(returning: .failure(reason)) }
    }
}

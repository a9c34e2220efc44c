import LoopCollections
import LoopCore
import LoopWire

/// What the process has posted for the thread that owns a peer's sockets, in order.
struct PostedEntries: Sendable {
    /// Events, and the ends of effects.
    var run = EntryRun()
    /// The senders that wait for the outcome of an event, by its index in the run. The gate knows each by its ticket.
    var waiters: [(index: Int, ticket: UInt64)] = []
    /// Whether the peer is to hand back what it runs, and then to end.
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

/// What a waiting sender learns of its event.
struct Settlement: Equatable, Sendable {
    /// The state that the event made. Its seq is `.initial` if the sender did not ask for it, or if it is no longer known.
    var state = StateID.none
    /// The answer to the event, or nil if its sender has not asked or the answer is no longer kept.
    var answer: EntryAnswer?

    /// The settlement of an event that was accepted, if the sender wants nothing else.
    static var accepted: Settlement { Settlement() }
}

/// Lets entries into the outbox of a peer. Senders wait while the outbox is full (G10).
///
///     send ──▶ line ──── space ───▶ posted ── the owning thread takes it ──▶ the machine's outbox
///                └ cancelled, closed: refused                          end ──▶ posted: never waits
///
/// A sender that finds an empty line and space posts at once. Otherwise its entry waits in the line, and is posted in its turn
/// when the owning thread reports space. The gate resumes and signals only after it has released its lock.
final class OutboxGate: Sendable {
    /// Resumed with nil if there is no space.
    private typealias Reply = CheckedContinuation<Result<Settlement, SendRefusal>?, Never>

    private struct State {
        let countMax: Int
        let bytesMax: Int
        let keeps: Bool
        /// Senders that wait for space, in the order in which they came.
        var line: [(ticket: UInt64, entry: Entry, reply: Reply)] = []
        var posted = PostedEntries()
        /// The size of the outbox as the owning thread last reported it, plus what that thread has taken since.
        var outboxCount = 0
        var outboxBytes = 0
        /// Senders that wait for the outcome of an event that was posted.
        var replies = HashTable<UInt64, Reply>()
        var lastTicket: UInt64 = 0
        /// Why nothing is accepted any more, or nil while the gate is open.
        var closed: SendRefusal?
        /// Whether the owning thread will look at what is posted before it sleeps.
        var isAwake = false

        var hasSpace: Bool {
            posted.run.count + outboxCount < countMax && posted.run.byteCount + outboxBytes < bytesMax
        }

        mutating func nextTicket() -> UInt64 {
            lastTicket += 1
            return lastTicket
        }

        /// Posts an entry, for which there is space.
        /// - Returns: the sender, if it waits for nothing else.
        mutating func post(_ entry: Entry, _ ticket: UInt64, _ reply: Reply) -> Reply? {
            let waits = entry.wantsSeq || keeps
            if waits {
                posted.waiters.append((posted.run.count, ticket))
                replies.updateValue(reply, forKey: ticket)
            }
            posted.run.append(entry)
            return waits ? nil : reply
        }

        /// Posts entries from the line while there is space.
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
    /// Records the spans of what is sent, or nil if none are recorded.
    let tracer: Tracer?
    let wakeup: Wakeup
    let killSwitch = KillSwitch()

    /// - Parameters:
    ///   - countMax: how many entries may be posted or in the outbox before senders wait.
    ///   - bytesMax: how many bytes these entries may have.
    ///   - keeps: whether an event is accepted only once it is on disk.
    ///   - tracer: records the spans of what is sent, or nil to record none.
    /// - Throws: if no descriptors are free.
    init(countMax: Int, bytesMax: Int, keeps: Bool = false, tracer: Tracer? = nil) throws(SystemError) {
        self.tracer = tracer
        state = Locked(State(countMax: countMax, bytesMax: bytesMax, keeps: keeps))
        wakeup = try Wakeup()
    }

    /// Creates the gate of a peer that may have this many effects. The entries of all of them can wait for their outcomes while the
    /// next effects run.
    convenience init(capacity: Int, keeps: Bool = false, tracer: Tracer? = nil) throws(SystemError) {
        try self.init(countMax: 4096 + 2 * capacity, bytesMax: 16 << 20, keeps: keeps, tracer: tracer)
    }

    /// Becomes readable when there is something to take.
    var descriptor: Int32 { wakeup.descriptor }

    /// Changes the state. Wakes the owning thread if it sleeps and the change gave it something to take.
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

    /// How many senders wait for space.
    var lineCount: Int { state.withLock { $0.line.count } }

    // MARK: Senders

    /// Sends an event.
    ///
    /// Returns when the event is accepted, and on disk if events are kept. If the event wants its seq, returns when its
    /// outcome is known.
    /// - Returns: what its sender wants to know of it.
    /// - Throws: why the event was not accepted or, if it wants its seq, not applied.
    @discardableResult @inline(__always)
    nonisolated(nonsending) func send(_ event: Entry) async throws(SendRefusal) -> Settlement {
        guard let tracer else { return try await sendUntraced(event) }
        var event = event
        event.trace = tracer.beginSend(in: event.trace)
        do throws(SendRefusal) {
            return try await sendUntraced(event)
        } catch {
            if let trace = event.trace { tracer.endSend(trace, refusal: error.reason) }
            throw error
        }
    }

    @inline(__always)
    private nonisolated(nonsending) func sendUntraced(_ event: Entry) async throws(SendRefusal) -> Settlement {
        if event.effect != nil, Task.isCancelled { throw SendRefusal(.cancelled) }
        switch try post(event) {
        case .posted: return .accepted
        case .wantsOutcome:
            // Cancellation matters only to a sender in the line, so no handler is needed here.
            if let result = await withCheckedContinuation({ postIfRoom(event, $0) }) { return try result.get() }
        case .full: break
        }
        return try await waitInLine(with: event).get()
    }

    private enum Entrance {
        case posted
        /// There is space, and the sender waits for the event's outcome.
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

    /// Posts an event whose sender waits for its outcome, if there is space.
    private func postIfRoom(_ event: Entry, _ reply: Reply) {
        let isPosted = change { state in
            guard state.closed == nil, state.line.isEmpty, state.hasSpace else { return false }
            _ = state.post(event, state.nextTicket(), reply)
            return true
        }
        if !isPosted { reply.resume(returning: nil) }
    }

    /// Waits for space, and then for what the sender of an event wants to know of it.
    private nonisolated(nonsending) func waitInLine(with event: Entry) async -> Result<Settlement, SendRefusal> {
        let ticket = state.withLock { $0.nextTicket() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { reply in
                enter(ticket, event, reply)
                // A cancellation handler that ran earlier has found nothing in the line.
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

    /// Removes the event of a cancelled sender from the line, if it is still there.
    private func leave(_ ticket: UInt64) {
        let reply = state.withLock { state -> Reply? in
            guard let place = state.line.firstIndex(where: { $0.ticket == ticket }) else { return nil }
            return state.line.remove(at: place).reply
        }
        reply?.resume(returning: .failure(SendRefusal(.cancelled)))
    }

    /// Posts the end of an effect's body. Never waits and is never refused, because a part of the outbox is reserved for ends.
    /// - Parameter failure: what the body threw, or nil if it returned.
    func end(_ effect: EffectID, _ attempt: Attempt, _ failure: Failure?) {
        let end = Entry(endOf: effect, attempt, failure)
        change { $0.posted.run.append(end) }
    }

    /// Posts the progress of a body. It leaves with the next heartbeat.
    func report(_ progress: AttemptProgress) {
        state.withLock { if $0.closed == nil { $0.posted.progress[progress.effect] = progress } }
    }

    /// Asks the peer to hand back what it runs, and then to end.
    func requestStop() { change { $0.posted.isStop = true } }

    /// Ends the owning thread's work with `NodeKilled`. Nothing is accepted any more, and all waiting senders get an error.
    func kill() {
        killSwitch.kill()
        close(SendRefusal(.ended, detail: "\(NodeKilled())"), mayBeApplied: true)
        wakeup.signal()
    }

    // MARK: The owning thread

    /// Notes that the thread is awake. It will call `maySleep` before it sleeps; until then nothing signals.
    func begin() { state.withLock { $0.isAwake = true } }

    /// Whether nothing is posted. If so, the next post wakes the thread.
    func maySleep() -> Bool {
        state.withLock { state in
            state.isAwake = !state.posted.isEmpty
            return !state.isAwake
        }
    }

    /// Takes everything that was posted. `posted` gives its storage in exchange, so that two buffers suffice.
    /// - Parameter isSignalled: whether the descriptor may be readable.
    func take(into posted: inout PostedEntries, isSignalled: Bool) {
        posted.removeAll()
        // The descriptor is drained first, so that a post after the exchange signals again.
        if isSignalled { wakeup.drain() }
        state.withLock { state in
            swap(&state.posted, &posted)
            state.outboxCount += posted.run.count
            state.outboxBytes += posted.run.byteCount
        }
    }

    /// Notes the size of the outbox once the machine has what was taken, and lets in senders from the line.
    func report(outboxCount: Int, outboxBytes: Int) {
        let accepted = change { state in
            (state.outboxCount, state.outboxBytes) = (outboxCount, outboxBytes)
            return state.letIn()
        }
        for reply in accepted { reply.resume(returning: .success(.accepted)) }
    }

    /// Resumes senders whose events are on disk or have known outcomes.
    func resolve(_ results: [(ticket: UInt64, result: Result<Settlement, SendRefusal>)]) {
        for (ticket, result) in results {
            let reply = state.withLock { $0.replies.removeValue(forKey: ticket) }
            reply?.resume(returning: result)
        }
    }

    /// Closes the gate: nothing is accepted any more, and senders that wait for space are refused.
    /// - Parameter mayBeApplied: whether events that were accepted may have been applied although their outcomes are unknown.
    ///   Then callers that wait for an outcome get ``SendRefusal/Reason/historyChanged``.
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

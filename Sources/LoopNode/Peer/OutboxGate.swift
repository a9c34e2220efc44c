import LoopCore
import LoopLock
import LoopWire

/// What the threads of a process have left for the thread that owns a peer's sockets, in the order in which they did.
struct PostedEntries: Sendable {
    /// Events, and the ends of effects.
    var run = EntryRun()
    /// Who waits for what of an entry, by its place in the run.
    var waiters: [(index: Int, waiter: EventWaiter)] = []
    /// How many of the entries are events, and the bytes of these.
    var eventsCount = 0
    var eventsBytes = 0
    /// The peer is to hand back what it runs, and to end.
    var isStop = false

    var isEmpty: Bool { run.isEmpty && !isStop }

    mutating func removeAll() {
        run.removeAll()
        waiters.removeAll(keepingCapacity: true)
        (eventsCount, eventsBytes, isStop) = (0, 0, false)
    }
}

/// Who waits for what of an event that was handed over, by a ticket of the gate.
enum EventWaiter: Sendable, Equatable {
    /// Until it is on disk.
    case kept(UInt64)
    /// Until its outcome is known.
    case outcome(UInt64)

    var ticket: UInt64 {
        switch self {
        case .kept(let ticket), .outcome(let ticket): ticket
        }
    }
}

/// Lets events into the outbox while there is room, and holds their senders while there is none (G10).
///
/// An event that was let in is written behind the others that wait to be taken, and counts from then on: first as posted,
/// then as an entry of the machine's outbox. The owning thread takes all that was posted at once, and reports what the
/// outbox holds; senders are let on in the order in which they came.
final class OutboxGate: Sendable {
    private struct Occupancy {
        var posted = PostedEntries()
        /// Events that were taken and not reported yet.
        var takenCount = 0
        var takenBytes = 0
        var heldCount = 0
        var heldBytes = 0
        var isClosed: SendRefusal?
        var held: [UInt64: (continuation: CheckedContinuation<SendRefusal?, Never>, bytes: Int)] = [:]
        var order: [UInt64] = []
        var confirmations: [UInt64: Confirmation] = [:]
        var cancelled: Set<UInt64> = []
        var nextTicket: UInt64 = 1
        var push: Push?

        /// Whether the next event is the only one, and its sender may push it.
        var isForOne: Bool { push != nil && posted.isEmpty && takenCount == 0 && heldCount == 0 }
    }

    /// Pushes what was posted, where the owning thread sleeps. Answers whether that may sleep on.
    typealias Push = @Sendable () -> Bool

    private let countMax: Int
    private let bytesMax: Int
    /// Whether an event is accepted only once it is on disk.
    private let keeps: Bool
    private let state: Locked<Occupancy>

    let wakeup: Wakeup

    /// - Throws: when there are no descriptors left.
    init(countMax: Int, bytesMax: Int, keeps: Bool = false) throws(SystemError) {
        self.countMax = countMax
        self.bytesMax = bytesMax
        self.keeps = keeps
        state = Locked(Occupancy())
        wakeup = try Wakeup()
    }

    /// Readable when there is something to take.
    var descriptor: Int32 { wakeup.descriptor }

    /// A sender that goes on leaves its event to the owning thread. One that has nothing to do before the outcome, or
    /// whose effect ends, need not wake another thread for that.
    /// - Parameter push: called by such a sender, where no other event is posted or under way; nil: by nobody.
    func letSenders(push: Push?) { state.withLock { $0.push = push } }

    /// Something was posted where nothing was.
    /// - Parameter isForOne: it is the only event, and its sender has nothing else to do.
    private func hasPosted(isForOne: Bool) {
        if isForOne, let push = state.withLock({ $0.push }), push() { return }
        wakeup.signal()
    }

    // MARK: Senders

    /// Hands an event over, if it can be done without waiting for anything.
    /// - Parameter isLast: the body of the effect, which there must be, has ended with it.
    /// - Returns: whether it was done; if not, `send` waits until it can be.
    /// - Throws: why nothing is accepted any more.
    func offer(
        _ payload: UnsafeRawBufferPointer, of effect: (id: EffectID, attempt: Attempt)?, isLast: Bool = false
    ) throws(SendRefusal) -> Bool {
        if keeps { return false }
        var refusal: SendRefusal?
        let (isAccepted, wasEmpty, isForOne) = state.withLock { state in
            if let closed = state.isClosed {
                refusal = closed
                return (false, false, false)
            }
            guard state.order.isEmpty, hasRoom(state) else { return (false, false, false) }
            let (wasEmpty, isForOne) = (state.posted.isEmpty, isLast && state.isForOne)
            Self.post(payload, of: effect, waiter: nil, isLast: isLast, &state.posted)
            return (true, wasEmpty, isForOne)
        }
        if let refusal { throw refusal }
        if wasEmpty { hasPosted(isForOne: isForOne) }
        return isAccepted
    }

    /// Hands an event over; returns when it is accepted (and on disk, where events are kept) or, if `confirmed`, when its
    /// outcome is known.
    func send(
        _ payload: [UInt8], of effect: (id: EffectID, attempt: Attempt)?, confirmed: Bool
    ) async throws(SendRefusal) -> Seq {
        if effect != nil, Task.isCancelled { throw SendRefusal(.cancelled) }
        let waits = confirmed || keeps
        if !waits,
            try payload.withUnsafeBufferPointer({ (bytes) throws(SendRefusal) in
                try offer(UnsafeRawBufferPointer(bytes), of: effect)
            })
        {
            return .initial
        }
        try await enter(bytes: payload.count)
        if effect != nil, Task.isCancelled {
            leave(bytes: payload.count)
            throw SendRefusal(.cancelled)
        }
        guard waits else {
            if let refusal = postAdmitted(payload, of: effect, nil) { throw refusal }
            return .initial
        }
        let result = await withCheckedContinuation { continuation in
            if let refusal = postAdmitted(payload, of: effect, (continuation, isOutcome: confirmed)) {
                continuation.resume(returning: .failure(refusal))
            }
        }
        return try result.get()
    }

    private typealias Confirmation = CheckedContinuation<Result<Seq, SendRefusal>, Never>

    /// Posts an event that was let in.
    /// - Parameter confirmation: who waits, and whether for the outcome.
    /// - Returns: why nothing is accepted any more.
    private func postAdmitted(
        _ payload: [UInt8], of effect: (id: EffectID, attempt: Attempt)?,
        _ confirmation: (waiting: Confirmation, isOutcome: Bool)?
    ) -> SendRefusal? {
        let (refusal, wasEmpty, isForOne) = state.withLock { state -> (SendRefusal?, Bool, Bool) in
            state.takenCount -= 1
            state.takenBytes -= payload.count
            if let closed = state.isClosed { return (closed, false, false) }
            let isAwaited = confirmation?.isOutcome == true && !keeps
            let (wasEmpty, isForOne) = (state.posted.isEmpty, isAwaited && state.isForOne)
            var waiter: EventWaiter?
            if let confirmation {
                state.nextTicket += 1
                state.confirmations[state.nextTicket] = confirmation.waiting
                waiter = confirmation.isOutcome ? .outcome(state.nextTicket) : .kept(state.nextTicket)
            }
            payload.withUnsafeBytes { Self.post($0, of: effect, waiter: waiter, &state.posted) }
            return (nil, wasEmpty, isForOne)
        }
        if wasEmpty { hasPosted(isForOne: isForOne) }
        return refusal
    }

    private static func post(
        _ payload: UnsafeRawBufferPointer, of effect: (id: EffectID, attempt: Attempt)?, waiter: EventWaiter?,
        isLast: Bool = false, _ posted: inout PostedEntries
    ) {
        var wantsSeq = false
        if case .outcome = waiter { wantsSeq = true }
        if let waiter { posted.waiters.append((posted.run.count, waiter)) }
        posted.run.append(.event, of: effect, wantsSeq: wantsSeq, isLast: isLast, payload: payload)
        posted.eventsCount += 1
        posted.eventsBytes += payload.count
    }

    /// Hands over that an effect's body has ended. Never refused: a part of the outbox is kept for it.
    func postEnd(of effect: EffectID, _ attempt: Attempt, _ failure: Failure?) {
        let report = failure?.bytes ?? []
        let wasEmpty = state.withLock { state in
            let wasEmpty = state.posted.isEmpty
            report.withUnsafeBytes {
                state.posted.run.append(
                    failure == nil ? .completed : .failed, of: (effect, attempt), wantsSeq: false, payload: $0)
            }
            return wasEmpty
        }
        if wasEmpty { wakeup.signal() }
    }

    /// Asks the peer to hand back what it runs, and to end.
    func requestStop() {
        state.withLock { $0.posted.isStop = true }
        wakeup.signal()
    }

    private func newTicket() -> UInt64 {
        state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
    }

    private func enter(bytes: Int) async throws(SendRefusal) {
        let refusal: SendRefusal?? = state.withLock { state in
            if let closed = state.isClosed { return .some(.some(closed)) }
            guard state.order.isEmpty, hasRoom(state) else { return .none }
            admit(bytes, &state)
            return .some(.none)
        }
        if case .some(let known) = refusal {
            if let known { throw known }
            return
        }
        try await waitForRoom(bytes: bytes)
    }

    private func waitForRoom(bytes: Int) async throws(SendRefusal) {
        let ticket = newTicket()
        let refusal = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known: SendRefusal?? = state.withLock { state in
                    if state.cancelled.remove(ticket) != nil { return .some(SendRefusal(.cancelled)) }
                    if let closed = state.isClosed { return .some(closed) }
                    if state.order.isEmpty, hasRoom(state) {
                        admit(bytes, &state)
                        return .some(.none)
                    }
                    state.held[ticket] = (continuation, bytes)
                    state.order.append(ticket)
                    return .none
                }
                if case .some(let known) = known { continuation.resume(returning: known) }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                guard let waiting = state.held.removeValue(forKey: ticket)?.continuation else {
                    state.cancelled.insert(ticket)
                    return CheckedContinuation<SendRefusal?, Never>?.none
                }
                state.order.removeAll { $0 == ticket }
                return waiting
            }
            waiting?.resume(returning: SendRefusal(.cancelled))
        }
        state.withLock { _ = $0.cancelled.remove(ticket) }
        if let refusal { throw refusal }
    }

    private func hasRoom(_ state: borrowing Occupancy) -> Bool {
        state.posted.eventsCount + state.takenCount + state.heldCount < countMax
            && state.posted.eventsBytes + state.takenBytes + state.heldBytes < bytesMax
    }

    private func admit(_ bytes: Int, _ state: inout Occupancy) {
        state.takenCount += 1
        state.takenBytes += bytes
    }

    private func leave(bytes: Int) {
        state.withLock { state in
            state.takenCount -= 1
            state.takenBytes -= bytes
        }
    }

    // MARK: The owning thread

    /// Takes everything that was posted. `posted` gives its storage in exchange, so two of them suffice for life.
    /// - Parameter isSignalled: whether the descriptor may be readable.
    func take(into posted: inout PostedEntries, isSignalled: Bool) {
        posted.removeAll()
        // Drained first: what is posted behind the exchange finds nothing there and signals again.
        if isSignalled { wakeup.drain() }
        state.withLock { state in
            swap(&state.posted, &posted)
            state.takenCount += posted.eventsCount
            state.takenBytes += posted.eventsBytes
        }
    }

    /// The events of `posted` have reached the machine, whose outbox now holds so much.
    func report(_ posted: PostedEntries, outboxCount: Int, outboxBytes: Int) {
        let resumed = state.withLock { state in
            state.takenCount -= posted.eventsCount
            state.takenBytes -= posted.eventsBytes
            state.heldCount = outboxCount
            state.heldBytes = outboxBytes
            var resumed: [CheckedContinuation<SendRefusal?, Never>] = []
            while hasRoom(state), let ticket = state.order.first {
                state.order.removeFirst()
                guard let waiting = state.held.removeValue(forKey: ticket) else { continue }
                admit(waiting.bytes, &state)
                resumed.append(waiting.continuation)
            }
            return resumed
        }
        for waiting in resumed { waiting.resume(returning: nil) }
    }

    /// What was waited for has come: an event is on disk, or its outcome is known.
    func resolve(_ ticket: UInt64, _ result: Result<Seq, SendRefusal>) {
        let waiting = state.withLock { $0.confirmations.removeValue(forKey: ticket) }
        waiting?.resume(returning: result)
    }

    /// Nothing is accepted any more. Senders that wait for room are refused.
    /// - Parameter mayBeApplied: whether events that were accepted may have been applied although their outcomes are not known.
    ///   Then those who wait for an outcome are told just that, as ``SendRefusal/Reason/historyChanged``.
    func close(_ refusal: SendRefusal, mayBeApplied: Bool) {
        let (held, confirmations) = state.withLock { state in
            if state.isClosed == nil { state.isClosed = refusal }
            defer {
                state.held = [:]
                state.order = []
                state.confirmations = [:]
            }
            return (state.held.values.map(\.continuation), Array(state.confirmations.values))
        }
        for waiting in held { waiting.resume(returning: refusal) }
        let reason = mayBeApplied ? SendRefusal(.historyChanged, detail: refusal.detail) : refusal
        for waiting in confirmations { waiting.resume(returning: .failure(reason)) }
    }
}

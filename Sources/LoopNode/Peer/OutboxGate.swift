import LoopCore
import LoopLock
import LoopWire

/// What the threads of a process leave for the thread that owns a peer's sockets.
enum PeerMail: Sendable {
    case event([UInt8], effect: EffectID?, Attempt, waiter: EventWaiter?)
    case ended(EffectID, Attempt, Failure?)
    case stop
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
/// An event that was let in counts from then on: first as posted, then as an entry of the machine's outbox. The owning
/// thread reports what the outbox holds; senders are let on in the order in which they came.
final class OutboxGate: Sendable {
    private struct Occupancy {
        var postedCount = 0
        var postedBytes = 0
        var heldCount = 0
        var heldBytes = 0
        var isClosed: SendRefusal?
        var held: [UInt64: (continuation: CheckedContinuation<SendRefusal?, Never>, bytes: Int)] = [:]
        var order: [UInt64] = []
        var confirmations: [UInt64: CheckedContinuation<Result<Seq, SendRefusal>, Never>] = [:]
        var cancelled: Set<UInt64> = []
        var nextTicket: UInt64 = 1
    }

    private let countMax: Int
    private let bytesMax: Int
    /// Whether an event is accepted only once it is on disk.
    private let keeps: Bool
    private let state: Locked<Occupancy>

    init(countMax: Int, bytesMax: Int, keeps: Bool = false) {
        self.countMax = countMax
        self.bytesMax = bytesMax
        self.keeps = keeps
        state = Locked(Occupancy())
    }

    /// Hands an event over; returns when it is accepted (and on disk, where events are kept) or, if `confirmed`, when its
    /// outcome is known.
    func send(
        _ payload: [UInt8], of effect: (id: EffectID, attempt: Attempt)?, confirmed: Bool,
        post: (PeerMail) -> Bool
    ) async throws(SendRefusal) -> Seq {
        try await enter(bytes: payload.count)
        if effect != nil, Task.isCancelled {
            leave(bytes: payload.count)
            throw SendRefusal(.cancelled)
        }
        guard confirmed || keeps else {
            guard post(.event(payload, effect: effect?.id, effect?.attempt ?? .none, waiter: nil)) else {
                leave(bytes: payload.count)
                throw closure
            }
            return .initial
        }
        let ticket = newTicket()
        let result = await withCheckedContinuation { continuation in
            state.withLock { $0.confirmations[ticket] = continuation }
            let waiter = confirmed ? EventWaiter.outcome(ticket) : .kept(ticket)
            if !post(.event(payload, effect: effect?.id, effect?.attempt ?? .none, waiter: waiter)) {
                leave(bytes: payload.count)
                resolve(ticket, .failure(closure))
            }
        }
        return try result.get()
    }

    private var closure: SendRefusal { state.withLock { $0.isClosed } ?? SendRefusal(.ended) }

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
        state.postedCount + state.heldCount < countMax && state.postedBytes + state.heldBytes < bytesMax
    }

    private func admit(_ bytes: Int, _ state: inout Occupancy) {
        state.postedCount += 1
        state.postedBytes += bytes
    }

    private func leave(bytes: Int) {
        state.withLock { state in
            state.postedCount -= 1
            state.postedBytes -= bytes
        }
    }

    // MARK: The owning thread

    /// Posted events have reached the machine, whose outbox now holds so much.
    func report(taken count: Int, bytes: Int, outboxCount: Int, outboxBytes: Int) {
        let resumed = state.withLock { state in
            state.postedCount -= count
            state.postedBytes -= bytes
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

    /// Nothing is accepted any more; everybody who waits is told why.
    func close(_ refusal: SendRefusal) {
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
        for waiting in confirmations { waiting.resume(returning: .failure(refusal)) }
    }
}

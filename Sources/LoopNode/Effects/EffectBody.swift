import LoopCore
import LoopWire
import Synchronization

/// The body of one effect that was granted to this node, and the source of its context.
final class EffectBody: Sendable, EffectSource {
    let grant: Grant
    /// When the grant arrived.
    let grantedAt: MonotonicTime
    /// The place of the attempt in a trace, or nil if it is in none.
    let trace: TraceContext?
    /// The history whose journal named the effect. Another life of the loop uses these names again.
    private let history: History
    private let effects: any FeedbackEffects
    /// The gate to which the body sends its events and its end.
    private let gate: OutboxGate
    /// The runner once the body begins, or ``BodyRunner/none`` if it was cancelled before.
    private let runner = AtomicLazyReference<BodyRunner>()
    /// The stream of newer requests. It is made only for bodies that ask for newer requests or get one, because most do neither.
    private let made = AtomicLazyReference<NewerRequests>()

    init(
        _ grant: Grant, _ effects: any FeedbackEffects, in history: History, to gate: OutboxGate, at now: MonotonicTime
    ) {
        self.grant = grant
        trace = grant.trace.map { gate.tracer?.place(in: $0) ?? $0 }
        grantedAt = now
        self.effects = effects
        self.history = history
        self.gate = gate
    }

    // MARK: Its runner

    /// Notes that the body begins.
    /// - Returns: false if it was cancelled before.
    func begins(in runner: BodyRunner) -> Bool { self.runner.storeIfNil(runner) === runner }

    /// Whether the body has not waited for anything since it began, or nil if it has not begun.
    var hasNotWaited: Bool? { runner.load().map { $0.isBusy(with: self) } }

    nonisolated(nonsending) func run() async {
        if let trace {
            await TraceContext.$current.withValue(trace) { await effects.run(self) }
        } else {
            await effects.run(self)
        }
        finishRequests()
    }

    // MARK: The owning thread

    /// Passes a newer request to the body.
    func update(_ bytes: [UInt8]) {
        if let request = effects.request(bytes) { requests.source.yield(request) }
    }

    /// Cancels the body. This calls its cancellation handlers, which are the user's, so it must not be called under a lock.
    func cancel() {
        runner.storeIfNil(.none).cancel(self)
        finishRequests()
    }

    /// Ends the stream of newer requests.
    private func finishRequests() {
        let known = made.storeIfNil(.none)
        if known !== NewerRequests.none { known.source.finish() }
    }

    // MARK: The body

    var newerRequests: AsyncStream<any Sendable> { requests.stream }

    private var requests: NewerRequests { made.load() ?? made.storeIfNil(NewerRequests()) }

    var idempotencyKey: String { "\(effects.loop)/\(history)/\(grant.effect)" }

    func report(_ progress: EffectProgress) {
        gate.report(AttemptProgress(effect: grant.effect, attempt: grant.attempt, progress: progress))
    }

    /// Sends an event; see `OutboxGate.send`.
    @discardableResult
    nonisolated(nonsending) func send(
        _ payload: [UInt8], wantsSeq: Bool = false, isLast: Bool = false
    ) async throws(SendRefusal) -> Seq {
        try await gate.send(
            Entry(
                kind: .event, effect: grant.effect, attempt: grant.attempt, payload: payload[...], wantsSeq: wantsSeq,
                isLast: isLast, trace: TraceContext.current ?? trace)
        ).state.seq
    }

    /// Posts the end of the body.
    /// - Parameter failure: what it threw, or nil if it returned.
    func end(_ failure: Failure?) { gate.end(grant.effect, grant.attempt, failure) }
}

/// The stream of a body's newer requests. It keeps only the newest one until that is taken.
private final class NewerRequests: Sendable {
    /// Shared by all bodies that have ended without a stream.
    static let none = {
        let none = NewerRequests()
        none.source.finish()
        return none
    }()

    let stream: AsyncStream<any Sendable>
    let source: AsyncStream<any Sendable>.Continuation

    init() { (stream, source) = AsyncStream.makeStream(of: (any Sendable).self, bufferingPolicy: .bufferingNewest(1)) }
}

import LoopCore
import LoopWire
import Synchronization

/// The body of one effect that was granted to this node: what it does, and what it may ask for.
final class EffectBody: Sendable, EffectSource {
    let grant: Grant
    /// The history whose journal named the effect. Another life of the loop uses the same names again.
    private let history: History
    private let effects: any FeedbackEffects
    /// Where the body leaves its events and its end.
    private let gate: OutboxGate
    /// The runner from the moment at which the body begins, or ``BodyRunner/none`` if it was cancelled before.
    private let runner = AtomicLazyReference<BodyRunner>()
    /// Most bodies never ask for newer requests and never get one: their stream is made for those that do.
    private let made = AtomicLazyReference<NewerRequests>()

    init(_ grant: Grant, _ effects: any FeedbackEffects, in history: History, to gate: OutboxGate) {
        self.grant = grant
        self.effects = effects
        self.history = history
        self.gate = gate
    }

    // MARK: Its runner

    /// The body begins.
    /// - Returns: false: it was cancelled before.
    func begins(in runner: BodyRunner) -> Bool { self.runner.storeIfNil(runner) === runner }

    /// Whether the body has not waited for anything since it began, or nil if it has not begun.
    var hasNotWaited: Bool? { runner.load().map { $0.isBusy(with: self) } }

    nonisolated(nonsending) func run() async {
        await effects.run(self)
        finishRequests()
    }

    // MARK: The owning thread

    /// The request has changed.
    func update(_ bytes: RequestBytes) {
        if let request = effects.request(bytes) { requests.source.yield(request) }
    }

    /// Calls the body's cancellation handlers, which are the user's: never under a lock.
    func cancel() {
        runner.storeIfNil(.none).cancel(self)
        finishRequests()
    }

    /// There will be no newer requests.
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

    /// Hands an event over; see `OutboxGate.send`.
    @discardableResult
    nonisolated(nonsending) func send(
        _ payload: [UInt8], wantsSeq: Bool = false, isLast: Bool = false
    ) async throws(SendRefusal) -> Seq {
        try await gate.send(
            Entry(
                kind: .event, effect: grant.effect, attempt: grant.attempt, payload: payload[...], wantsSeq: wantsSeq,
                isLast: isLast)
        ).seq
    }

    /// Hands over that the body has ended.
    /// - Parameter failure: what it threw; nil: it returned.
    func end(_ failure: Failure?) { gate.end(grant.effect, grant.attempt, failure) }
}

/// The stream of a body's newer requests, which keeps the newest until it is taken.
private final class NewerRequests: Sendable {
    /// Of all bodies that have ended without a stream.
    static let none = {
        let none = NewerRequests()
        none.source.finish()
        return none
    }()

    let stream: AsyncStream<any Sendable>
    let source: AsyncStream<any Sendable>.Continuation

    init() { (stream, source) = AsyncStream.makeStream(of: (any Sendable).self, bufferingPolicy: .bufferingNewest(1)) }
}

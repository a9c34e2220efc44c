/// The work that fulfils one request, as a value. The process that owns the effect runs it.
///
/// An effect may send any number of events, ends when its body returns, and is cancelled with its Swift task. Events that
/// it sends after its cancellation are refused. An error that leaves the body follows the feedback's policy.
public struct Effect<Event: Sendable>: Sendable {
    // The work runs on its caller's executor, so that a body that never suspends needs no executor hop.
    package typealias Work = nonisolated(nonsending) @Sendable (Send<Event>) async throws -> Void
    package typealias LastWord = nonisolated(nonsending) @Sendable () async throws -> Event?

    package enum Body: Sendable {
        case events([Event])
        case run(Work)
        /// A body whose event, if it returns one, is its last event.
        case task(LastWord)
    }

    package let body: Body

    /// The work of the effect in one form for all bodies.
    package var work: Work {
        switch body {
        case .events(let events): { send in for event in events { try await send(event) } }
        case .run(let work): work
        case .task(let work): { send in if let event = try await work() { try await send(event) } }
        }
    }

    package init(body: Body) { self.body = body }

    /// Does nothing and completes at once.
    public static var none: Effect { Effect(body: .events([])) }

    /// Sends these events, in order, at once.
    public static func events(_ events: Event...) -> Effect { Effect(body: .events(events)) }

    /// Runs `body` in a task of its own.
    public static func run(
        _ body: nonisolated(nonsending) @escaping @Sendable (Send<Event>) async throws -> Void
    ) -> Effect {
        Effect(body: .run(body))
    }
}

/// The source of what the body of a running effect may request.
package protocol EffectSource: AnyObject, Sendable {
    /// The newer requests, as one stream for all callers.
    var newerRequests: AsyncStream<any Sendable> { get }
    var idempotencyKey: String { get }
    /// Passes on how far the body has come.
    func report(_ progress: EffectProgress)
}

/// Information about an effect for its own body.
public struct EffectContext: Sendable {
    /// The effect's name in the loop.
    public let id: EffectID
    /// How often this effect has failed before; 0 at the first attempt.
    public let failures: Int
    /// Whether events of an earlier attempt may have been applied before its worker was lost.
    public let isResumed: Bool
    /// A key for the outside world: the same at every attempt of this effect, and never that of another effect. It names
    /// the loop, its history and the effect.
    public var idempotencyKey: String {
        switch source {
        case .given(_, let makeKey, _): makeKey()
        case .asked(let source): source.idempotencyKey
        }
    }

    /// Reports for people how far the effect has come: `context.progress(0.4, "page 12")`. The status of the loop shows the
    /// newest report of each running attempt. Reports are not journaled and do not wait. They may be frequent, because a
    /// worker sends only the newest one with its next heartbeat.
    /// - Parameters:
    ///   - fraction: how much is done, from 0 to 1.
    ///   - text: a few words, of which 128 bytes of UTF-8 are kept.
    public func progress(_ fraction: Double, _ text: String = "") {
        let progress = EffectProgress(fraction, text)
        switch source {
        case .given(_, _, let report): report(progress)
        case .asked(let source): source.report(progress)
        }
    }

    private let source: Source

    private enum Source {
        case given(AsyncStream<any Sendable>, @Sendable () -> String, @Sendable (EffectProgress) -> Void)
        /// A source that makes the key and the newer requests on demand, because most effects need neither.
        case asked(any EffectSource)
    }

    package init(
        id: EffectID, failures: Int, isResumed: Bool, idempotencyKey: @autoclosure @escaping @Sendable () -> String,
        updates: AsyncStream<any Sendable>, report: @escaping @Sendable (EffectProgress) -> Void = { _ in }
    ) {
        self.id = id
        self.failures = failures
        self.isResumed = isResumed
        source = .given(updates, idempotencyKey, report)
    }

    package init(id: EffectID, failures: Int, isResumed: Bool, source: any EffectSource) {
        self.id = id
        self.failures = failures
        self.isResumed = isResumed
        self.source = .asked(source)
    }

    /// The newer requests of a keyed effect that continues, with their type erased.
    package var updates: AsyncStream<any Sendable> {
        switch source {
        case .given(let stream, _, _): stream
        case .asked(let source): source.newerRequests
        }
    }
}

/// A function that sends events into the loop on behalf of one effect or one remote handle.
public struct Send<Event: Sendable>: Sendable {
    private let submit: nonisolated(nonsending) @Sendable (Event, _ confirmed: Bool) async throws(SendRefusal) -> Seq

    /// - Parameter submit: submits one event. It returns when the event was accepted, or, if `confirmed`, when it was
    ///   applied, with that seq. The seq of an unconfirmed one is `.initial`.
    package init(
        submit: nonisolated(nonsending) @escaping @Sendable (Event, _ confirmed: Bool) async throws(SendRefusal) -> Seq
    ) {
        self.submit = submit
    }

    /// Submits one event. It suspends only while the outbox is full. An accepted event is applied, or refused for a reason
    /// that the loop records. If that of an effect is refused for its own sake, such as its size, the effect's attempt fails.
    /// - Throws: `SendRefusal` if the event is not accepted: the effect is over, or the loop has ended.
    public nonisolated(nonsending) func callAsFunction(_ event: Event) async throws(SendRefusal) {
        _ = try await submit(event, false)
    }

    /// Submits one event and waits until it was applied.
    /// - Returns: the seq at which it was applied.
    /// - Throws: `SendRefusal` if the event was not applied, or if it is not known whether it was.
    @discardableResult
    public nonisolated(nonsending) func sendAndConfirm(_ event: Event) async throws(SendRefusal) -> Seq {
        try await submit(event, true)
    }
}

/// The reason why an event was not applied.
public struct SendRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// The cause of a refusal. The raw values are on the wire and in the journal.
    public enum Reason: UInt8, Codable, CaseIterable, Sendable {
        /// The effect is no longer live: cancelled, or completed.
        case stale = 1
        /// The effect is live, but this attempt of it is void.
        case attempt = 2
        /// The event's bytes are not an event of this loop.
        case undecodable = 3
        /// The encoded event is larger than the limit.
        case tooLarge = 4
        /// The loop has ended.
        case ended = 5
        /// The journal or the session that numbered the stream is gone, or the reducer is gone for good. Whether the event
        /// was applied is not known.
        case historyChanged = 6
        /// More events are waiting than the limit allows.
        case overloaded = 7
        /// The effect was cancelled while its event waited to be accepted.
        case cancelled = 8
        /// The event was set aside because the reducer ends in it.
        case quarantined = 9
    }

    /// The cause, for programs. A caller decides by it whether to send again.
    public var reason: Reason
    /// The value at fault and the remedy, if known.
    public var detail: String

    /// Creates a refusal. An empty detail adds nothing to the description.
    public init(_ reason: Reason, detail: String = "") {
        self.reason = reason
        self.detail = detail
    }

    /// The cause in words, with the detail in parentheses, for logs and for people.
    public var description: String {
        let what =
            switch reason {
            case .stale: "the effect is no longer live"
            case .attempt: "this attempt of the effect was taken away"
            case .undecodable: "the bytes are not an event of this loop"
            case .tooLarge: "the event is too large"
            case .ended: "the loop has ended"
            case .historyChanged: "the stream that it was sent in is gone, and whether it was applied is not known"
            case .overloaded: "too many events are waiting"
            case .cancelled: "the effect was cancelled while its event waited"
            case .quarantined: "the event was set aside because it brought the reducer down"
            }
        return detail.isEmpty ? "refused: \(what)" : "refused: \(what) (\(detail))"
    }
}

/// An error that says how its effect should be retried. All other errors are retried by the feedback's policy.
public protocol RetryAdvice: Error {
    /// Whether a retry can succeed. If false, the failure is final.
    var isTransient: Bool { get }
    /// The earliest time of the next attempt that the other side requested, counted from the failure.
    var retryAfter: Duration? { get }
}

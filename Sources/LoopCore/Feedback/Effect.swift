/// The work that fulfils one request: a value, run by whoever owns the effect.
///
/// An effect may send any number of events, ends when its body returns, and is cancelled with its Swift task. What it
/// sends after its cancellation is refused. An error that leaves the body follows the feedback's policy.
public struct Effect<Event: Sendable>: Sendable {
    // Run where their caller runs, so that a body which waits for nothing goes through no executor.
    package typealias Work = nonisolated(nonsending) @Sendable (Send<Event>) async throws -> Void
    package typealias LastWord = nonisolated(nonsending) @Sendable () async throws -> Event?

    package enum Body: Sendable {
        case events([Event])
        case run(Work)
        /// Its event, if there is one, is its last word.
        case task(LastWord)
    }

    package let body: Body

    /// What it does, whatever it consists of.
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

/// What the body of one effect that runs may ask for.
package protocol EffectSource: AnyObject, Sendable {
    /// The newer requests, the same stream for all who ask.
    var newerRequests: AsyncStream<any Sendable> { get }
    var idempotencyKey: String { get }
    /// The body says how far it has come.
    func report(_ progress: EffectProgress)
}

/// What an effect is told about itself.
public struct EffectContext: Sendable {
    /// The effect's name in the loop.
    public let id: EffectID
    /// How often this effect has failed before; 0 at the first try.
    public let failures: Int
    /// Whether an earlier attempt may have had events applied before its worker was lost.
    public let isResumed: Bool
    /// A key for the outside world that is the same at every attempt of this effect, and for no other: the loop, its
    /// history and the effect.
    public var idempotencyKey: String {
        switch source {
        case .given(_, let makeKey, _): makeKey()
        case .asked(let source): source.idempotencyKey
        }
    }

    /// Says how far the effect has come, for people: `context.progress(0.4, "page 12")`. The status of the loop shows the
    /// newest report of each attempt that runs. It is not journaled, does not wait, and may be called as often as one likes:
    /// a worker sends the newest one with its next heartbeat.
    /// - Parameters:
    ///   - fraction: how much is done, from 0 to 1.
    ///   - text: a few words; 128 bytes of UTF-8 of them.
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
        /// Most effects ask neither for their key nor for newer requests: what both take is made for those that do.
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

    /// Newer requests for a keyed effect that goes on, erased.
    package var updates: AsyncStream<any Sendable> {
        switch source {
        case .given(let stream, _, _): stream
        case .asked(let source): source.newerRequests
        }
    }
}

/// Sends events into the loop on behalf of one effect or one remote handle.
public struct Send<Event: Sendable>: Sendable {
    private let submit: nonisolated(nonsending) @Sendable (Event, _ confirmed: Bool) async throws(SendRefusal) -> Seq

    /// - Parameter submit: hands one event over. Returns when it was accepted, or, if `confirmed`, when it was applied,
    ///   with the seq at which that was. The seq of an unconfirmed one is `.initial`.
    package init(
        submit: nonisolated(nonsending) @escaping @Sendable (Event, _ confirmed: Bool) async throws(SendRefusal) -> Seq
    ) {
        self.submit = submit
    }

    /// Hands one event over; suspends only while the outbox is full. An accepted event is applied, or refused for a
    /// reason the loop records.
    /// - Throws: `SendRefusal`, where the event is not accepted: the effect is over, the loop has ended, or the event
    ///   is too large.
    public nonisolated(nonsending) func callAsFunction(_ event: Event) async throws(SendRefusal) {
        _ = try await submit(event, false)
    }

    /// Hands one event over and waits until it was applied.
    /// - Returns: the seq at which it was applied.
    /// - Throws: `SendRefusal`, where the event was not applied, or where it is not known whether it was.
    @discardableResult
    public nonisolated(nonsending) func sendAndConfirm(_ event: Event) async throws(SendRefusal) -> Seq {
        try await submit(event, true)
    }
}

/// Why an event was not applied.
public struct SendRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// One word for each cause; the raw values stand on the wire and in the journal.
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
        /// The journal or the session that numbered the stream is gone, or the reducer is gone for good; whether the event was
        /// applied is not known.
        case historyChanged = 6
        /// More events are waiting than the limit allows.
        case overloaded = 7
        /// The effect was cancelled while its event waited to be accepted.
        case cancelled = 8
        /// The event was set aside because it brings the reducer down.
        case quarantined = 9
    }

    /// The cause, for programs: a caller decides by it whether to send again.
    public var reason: Reason
    /// The value and the remedy, where there is one to tell.
    public var detail: String

    /// Creates a refusal. Empty detail adds nothing to the description.
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

/// An error that says how its effect should be tried again. Errors that do not are retried as the policy says.
public protocol RetryAdvice: Error {
    /// False: trying again cannot help.
    var isTransient: Bool { get }
    /// The earliest next try that the other side asked for.
    var retryAfter: Duration? { get }
}

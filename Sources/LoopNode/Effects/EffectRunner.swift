import CBOR
import LoopCluster
import LoopCore
import LoopWire

/// Who runs the bodies of effects, for a node that hears of them as grants.
protocol EffectRunner: Sendable {
    /// For the effects of a feedback; nil: its name is not known.
    func runner(of feedback: String?) -> any FeedbackRunner
}

/// Runs the bodies of one feedback's effects.
protocol FeedbackRunner: AnyObject, Sendable {
    /// The loop's name.
    var loop: String { get }

    /// Runs a body in the present task and tells its end, and goes on with those that follow as long as they are its own: each
    /// asynchronous call that returns to one goes through the executor, which is dear beside a body that does little.
    /// - Parameter next: what follows a body that has ended.
    /// - Returns: one that follows and is another's; nil: nothing follows.
    nonisolated(nonsending) func run(_ first: EffectBody, _ next: (EffectBody) -> EffectBody?) async -> EffectBody?

    /// A request from its bytes; nil: they are none.
    func request(_ bytes: RequestBytes) -> (any Sendable)?
}

/// The effects of a definition.
struct DefinitionEffects<Definition: LoopDefinition>: EffectRunner {
    /// By name, which is the same in every process; numbers are the journal's.
    private let feedbacks: [String: any FeedbackRunner]

    init(_ definition: Definition, coder: any ValueCoder) {
        feedbacks = Dictionary(
            definition.allFeedbacks.map { ($0.name, FeedbackEffects($0, loop: Definition.name, coder: coder)) },
            uniquingKeysWith: { first, _ in first })
    }

    func runner(of feedback: String?) -> any FeedbackRunner {
        feedback.flatMap { feedbacks[$0] } ?? UnknownFeedback(loop: Definition.name, feedback: feedback)
    }
}

/// A feedback that this node's definition does not have.
private final class UnknownFeedback: FeedbackRunner {
    let loop: String
    private let feedback: String?

    init(loop: String, feedback: String?) {
        self.loop = loop
        self.feedback = feedback
    }

    nonisolated(nonsending) func run(_ body: EffectBody, _ next: (EffectBody) -> EffectBody?) async -> EffectBody? {
        let what = feedback.map { "\"\($0)\"" } ?? "number \(body.grant.effect.feedback)"
        body.end(Failure(message: "this node's definition has no feedback \(what); run the reducer's build on it"))
        return next(body)
    }

    func request(_ bytes: RequestBytes) -> (any Sendable)? { nil }
}

/// The effects of one feedback.
private final class FeedbackEffects<State: Sendable, Event: Codable & Sendable>: FeedbackRunner {
    let loop: String
    private let feedback: Feedback<State, Event>
    private let coding: RequestCoding?
    private let coder: any ValueCoder

    init(_ feedback: Feedback<State, Event>, loop: String, coder: any ValueCoder) {
        self.feedback = feedback
        self.loop = loop
        self.coder = coder
        coding = feedback.requestCoding
    }

    func request(_ bytes: RequestBytes) -> (any Sendable)? { try? coding?.decode(bytes, coder) }

    nonisolated(nonsending) func run(_ first: EffectBody, _ next: (EffectBody) -> EffectBody?) async -> EffectBody? {
        var body = first
        while true {
            if let (work, request) = begin(body) {
                do {
                    switch work {
                    case .events(let events):
                        for event in events.dropLast() { _ = try await send(event, confirmed: false, of: body) }
                        if try !endsAtOnce(body, with: events.last) { try await end(body, with: events.last) }
                    case .task(let work):
                        let event = try await work()
                        if try !endsAtOnce(body, with: event) { try await end(body, with: event) }
                    case .run(let work):
                        try await work(send(of: body))
                        body.end(nil)
                    }
                } catch {
                    await fail(error, request, body)
                }
            }
            guard let following = next(body) else { return nil }
            guard following.isRun(by: self) else { return following }
            body = following
        }
    }

    /// What a body is to do; nil: its request cannot be read, and it has ended.
    private func begin(_ body: EffectBody) -> (work: Effect<Event>.Body, request: any Sendable)? {
        guard let coding else {
            body.end(
                Failure(message: "the requests of \(feedback.name) are not Codable; they run in the loop's process"))
            return nil
        }
        let request: any Sendable
        do {
            request = try coding.decode(body.grant.request, coder)
        } catch {
            body.end(Failure(message: "the request of \(feedback.name) could not be read: \(error)", isFinal: true))
            return nil
        }
        let context = EffectContext(
            id: body.grant.effect, failures: Int(body.grant.failures), isResumed: body.grant.isResumed, source: body)
        return (feedback.effect(request, context).body, request)
    }

    private func send(of body: EffectBody) -> Send<Event> {
        Send { [self] (event, confirmed) async throws(SendRefusal) -> Seq in
            try await send(event, confirmed: confirmed, of: body)
        }
    }

    private nonisolated(nonsending) func send(
        _ event: Event, confirmed: Bool, of body: EffectBody
    ) async throws(SendRefusal) -> Seq {
        let payload: [UInt8]
        do {
            payload = try coder.encode(event)
        } catch {
            throw SendRefusal(.undecodable, detail: "it could not be encoded: \(error)")
        }
        return try await body.send(payload, confirmed: confirmed)
    }

    /// Its last event and its end, from where the event was encoded, if there is room for both.
    /// - Returns: whether both were done; if not, neither was.
    private func endsAtOnce(_ body: EffectBody, with event: Event?) throws -> Bool {
        guard let event else {
            body.end(nil)
            return true
        }
        var outcome = Result<Bool, SendRefusal>.success(false)
        do {
            try CBOR.withEncoding(of: event) { bytes in
                outcome = Result { () throws(SendRefusal) in try body.end(with: bytes) }
            }
        } catch {
            throw SendRefusal(.undecodable, detail: "it could not be encoded: \(error)")
        }
        return try outcome.get()
    }

    /// Its last event and its end, once there is room for them.
    private nonisolated(nonsending) func end(_ body: EffectBody, with event: Event?) async throws {
        if let event { _ = try await send(event, confirmed: false, of: body) }
        body.end(nil)
    }

    /// The last failure of an effect becomes the feedback's event, where it has one; every other is reported.
    private nonisolated(nonsending) func fail(
        _ error: any Error, _ request: any Sendable, _ body: EffectBody
    ) async {
        let advice = error as? any RetryAdvice
        let isFinal =
            advice?.isTransient == false || Int(body.grant.failures) + 1 >= feedback.policy.retry.attemptsMax
        if isFinal, !Task.isCancelled, let event = feedback.failureEvent?(request, error) {
            do {
                if try !endsAtOnce(body, with: event) { try await end(body, with: event) }
            } catch {
                body.end(Failure(message: "\(error)", isFinal: true))
            }
            return
        }
        body.end(
            Failure(message: String("\(error)".prefix(1000)), isFinal: isFinal, retryAfter: advice?.retryAfter))
    }
}

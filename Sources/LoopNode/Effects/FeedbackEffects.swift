import LoopCore
import LoopWire

/// The effects of one feedback, whose types only the conforming type knows.
protocol FeedbackEffects: AnyObject, Sendable {
    /// The loop's name.
    var loop: String { get }

    /// Runs a body in the present task, and posts its end.
    nonisolated(nonsending) func run(_ body: EffectBody) async

    /// Decodes a request, or returns nil if the bytes cannot be decoded.
    func request(_ bytes: [UInt8]) -> (any Sendable)?
}

/// The effects of a feedback whose requests and events travel as bytes.
final class CodableEffects<State: Sendable, Event: Codable & Sendable>: FeedbackEffects {
    let loop: String
    private let feedback: Feedback<State, Event>
    private let coder: any ValueCoder

    init(_ feedback: Feedback<State, Event>, loop: String, coder: any ValueCoder) {
        self.feedback = feedback
        self.loop = loop
        self.coder = coder
    }

    func request(_ bytes: [UInt8]) -> (any Sendable)? { try? feedback.requestCoding?.decode(bytes, coder) }

    nonisolated(nonsending) func run(_ body: EffectBody) async {
        let (name, grant) = (feedback.name, body.grant)
        guard let coding = feedback.requestCoding else {
            let message = "the requests of \(name) are not Codable; they run in the loop's process"
            return body.end(Failure(message: message))
        }
        let request: any Sendable
        do {
            request = try coding.decode(grant.request, coder)
        } catch {
            return body.end(Failure(message: "the request of \(name) could not be read: \(error)", isFinal: true))
        }
        let context = EffectContext(
            id: grant.effect, failures: Int(grant.failures), isResumed: grant.isResumed, source: body)
        do {
            switch feedback.effect(request, context).body {
            case .events(let events):
                for event in events.dropLast() { try await body.send(encoded(event)) }
                try await end(body, with: events.last)
            case .task(let work): try await end(body, with: try await work())
            case .run(let work):
                try await work(
                    Send { [self] (event, confirmed) async throws(SendRefusal) -> Seq in
                        try await body.send(encoded(event), wantsSeq: confirmed)
                    })
                body.end(nil)
            }
        } catch {
            body.end(Failure(error))
        }
    }

    /// Ends the body, with its last event if it has one.
    private nonisolated(nonsending) func end(_ body: EffectBody, with event: Event?) async throws(SendRefusal) {
        guard let event else { return body.end(nil) }
        try await body.send(encoded(event), isLast: true)
    }

    private func encoded(_ event: Event) throws(SendRefusal) -> [UInt8] {
        do {
            return try coder.encode(event)
        } catch {
            throw SendRefusal(.undecodable, detail: "it could not be encoded: \(error)")
        }
    }
}

/// The effects of a definition, for a node that receives grants.
struct DefinitionEffects: Sendable {
    /// By name, which is the same in every process; the numbers differ between journals.
    private let feedbacks: [String: any FeedbackEffects]
    /// The executor of bodies, or nil for Swift's pool.
    private let executor: (any TaskExecutor)?

    init<Definition: LoopDefinition>(
        _ definition: Definition, coder: any ValueCoder, on executor: (any TaskExecutor)? = nil
    ) {
        self.executor = executor
        feedbacks = Dictionary(
            definition.allFeedbacks.map { ($0.name, CodableEffects($0, loop: Definition.name, coder: coder)) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Whether bodies run on Swift's pool.
    var arePooled: Bool { executor == nil }

    /// The effects of a feedback, or nil if the definition has none of this name.
    subscript(feedback: String?) -> (any FeedbackEffects)? { feedback.flatMap { feedbacks[$0] } }

    /// Starts bodies in the order in which they were granted.
    func start(_ bodies: [EffectBody]) { BodyRunner.start(bodies, on: executor) }
}

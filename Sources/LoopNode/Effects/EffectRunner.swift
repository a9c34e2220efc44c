import LoopCluster
import LoopCore
import LoopWire

/// Runs the bodies of effects as Swift tasks, for a node that hears of them as grants.
protocol EffectRunner: AnyObject, Sendable {
    /// Starts the task of a body; it runs on this thread until it waits for the first time.
    /// - Returns: nil where it cannot be run: its end has been told.
    func start(_ body: EffectBody) -> Task<Void, Never>?

    /// A request of a feedback from its bytes; nil: they are none.
    func request(_ bytes: [UInt8], of feedback: String?) -> (any Sendable)?
}

/// The effects of a definition.
final class DefinitionEffects<Definition: LoopDefinition>: EffectRunner {
    typealias Event = Definition.Event

    /// One reference, however much there is to a feedback: each effect holds its own.
    private final class Served: Sendable {
        let feedback: Feedback<Definition.State, Event>
        let coding: RequestCoding?

        init(_ feedback: Feedback<Definition.State, Event>) {
            self.feedback = feedback
            coding = feedback.requestCoding
        }
    }

    /// By name, which is the same in every process; numbers are the journal's.
    private let feedbacks: [String: Served]
    private let coder: any ValueCoder

    init(_ definition: Definition, coder: any ValueCoder) {
        feedbacks = Dictionary(
            definition.allFeedbacks.map { ($0.name, Served($0)) }, uniquingKeysWith: { first, _ in first })
        self.coder = coder
    }

    func request(_ bytes: [UInt8], of name: String?) -> (any Sendable)? {
        try? name.flatMap { feedbacks[$0] }?.coding?.decode(bytes, coder)
    }

    func start(_ body: EffectBody) -> Task<Void, Never>? {
        guard let served = body.feedback.flatMap({ feedbacks[$0] }), let coding = served.coding else {
            let what = body.feedback.map { "\"\($0)\"" } ?? "number \(body.grant.effect.feedback)"
            body.end(Failure(message: "this node's definition has no feedback \(what); run the reducer's build on it"))
            return nil
        }
        let request: any Sendable
        do {
            request = try coding.decode(body.grant.request, coder)
        } catch {
            body.end(
                Failure(message: "the request of \(served.feedback.name) could not be read: \(error)", isFinal: true))
            return nil
        }
        let (id, history) = (body.grant.effect, body.history)
        let context = EffectContext(
            id: id, failures: Int(body.grant.failures), isResumed: body.grant.isResumed,
            idempotencyKey: "\(Definition.name)/\(history)/\(id)", updates: body)
        let effect = served.feedback.effect(request, context)
        // The task is the effect: it is held by its body, cancelled by the reducer's word, and ends with its work.
        return Task.immediateDetached {
            body.noteStart()
            await self.run(effect, served, request, body)
        }
    }

    private func run(
        _ effect: Effect<Event>, _ served: Served, _ request: any Sendable, _ body: EffectBody
    ) async {
        let coder = coder
        let send = Send<Event> { (event, confirmed) async throws(SendRefusal) -> Seq in
            let payload: [UInt8]
            do {
                payload = try coder.encode(event)
            } catch {
                throw SendRefusal(.undecodable, detail: "it could not be encoded: \(error)")
            }
            return try await body.send(payload, confirmed: confirmed)
        }
        do {
            switch effect.body {
            case .events(let events): for event in events { try await send(event) }
            case .run(let work): try await work(send)
            }
            body.end(nil)
        } catch {
            await fail(error, served.feedback, request, send, body)
        }
    }

    /// The last failure of an effect becomes the feedback's event, where it has one; every other is reported.
    private func fail(
        _ error: any Error, _ feedback: Feedback<Definition.State, Event>, _ request: any Sendable,
        _ send: Send<Event>, _ body: EffectBody
    ) async {
        let advice = error as? any RetryAdvice
        let isFinal =
            advice?.isTransient == false || Int(body.grant.failures) + 1 >= feedback.policy.retry.attemptsMax
        if isFinal, !Task.isCancelled, let event = feedback.failureEvent?(request, error) {
            do {
                try await send(event)
                body.end(nil)
                return
            } catch {
                body.end(Failure(message: "\(error)", isFinal: true))
                return
            }
        }
        body.end(
            Failure(message: String("\(error)".prefix(1000)), isFinal: isFinal, retryAfter: advice?.retryAfter))
    }
}

import LoopCluster
import LoopCore
import LoopLock
import LoopWire

/// Runs the bodies of effects as Swift tasks, for a node that hears of them as grants.
protocol EffectRunner: Sendable {
    /// Starts the body of a granted effect; what it sends and how it ends goes to the port.
    /// - Parameter feedback: the name of the effect's feedback; nil: it is not known.
    func start(_ grant: Grant, of feedback: String?, port: EffectPort) -> RunningEffect
}

/// One body that runs: it can be given a newer request, and cancelled.
struct RunningEffect: Sendable {
    let update: @Sendable ([UInt8]) -> Void
    let cancel: @Sendable () -> Void
}

/// Where an effect's body leaves its events and its end.
struct EffectPort: Sendable {
    let grant: Grant
    /// The history whose journal named the effect: without it, another life of the loop would reuse the name.
    let history: History
    let gate: OutboxGate

    func send(_ payload: [UInt8], confirmed: Bool) async throws(SendRefusal) -> Seq {
        try await gate.send(payload, of: (grant.effect, grant.attempt), confirmed: confirmed)
    }

    func end(_ failure: Failure?) {
        gate.postEnd(of: grant.effect, grant.attempt, failure)
    }
}

/// The effects of a definition.
struct DefinitionEffects<Definition: LoopDefinition>: EffectRunner {
    typealias Event = Definition.Event

    /// By name, which is the same in every process; numbers are the journal's.
    private let feedbacks: [String: Feedback<Definition.State, Event>]
    private let coder: any ValueCoder

    init(_ definition: Definition, coder: any ValueCoder) {
        feedbacks = Dictionary(definition.allFeedbacks.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.coder = coder
    }

    func start(_ grant: Grant, of name: String?, port: EffectPort) -> RunningEffect {
        guard let feedback = name.flatMap({ feedbacks[$0] }), let coding = feedback.requestCoding else {
            let what = name.map { "\"\($0)\"" } ?? "number \(grant.effect.feedback)"
            port.end(Failure(message: "this node's definition has no feedback \(what); run the reducer's build on it"))
            return RunningEffect(update: { _ in }, cancel: {})
        }
        let request: any Sendable
        do {
            request = try coding.decode(grant.request, coder)
        } catch {
            port.end(Failure(message: "the request of \(feedback.name) could not be read: \(error)", isFinal: true))
            return RunningEffect(update: { _ in }, cancel: {})
        }
        let (updates, newer) = AsyncStream.makeStream(of: (any Sendable).self, bufferingPolicy: .bufferingNewest(1))
        let context = EffectContext(
            id: grant.effect, failures: Int(grant.failures), isResumed: grant.isResumed,
            idempotencyKey: "\(Definition.name)/\(port.history)/\(grant.effect)", updates: updates)
        let effect = feedback.effect(request, context)
        // The task is the effect: it is held by the node, cancelled by the reducer's word, and ends with its body.
        let task = Task {
            await run(effect, feedback, request, port)
            newer.finish()
        }
        return RunningEffect(
            update: { bytes in
                if let request = try? coding.decode(bytes, coder) { newer.yield(request) }
            },
            cancel: {
                task.cancel()
                newer.finish()
            })
    }

    private func run(
        _ effect: Effect<Event>, _ feedback: Feedback<Definition.State, Event>, _ request: any Sendable,
        _ port: EffectPort
    ) async {
        let coder = coder
        let send = Send<Event> { (event, confirmed) async throws(SendRefusal) -> Seq in
            let payload: [UInt8]
            do {
                payload = try coder.encode(event)
            } catch {
                throw SendRefusal(.undecodable, detail: "it could not be encoded: \(error)")
            }
            return try await port.send(payload, confirmed: confirmed)
        }
        do {
            switch effect.body {
            case .events(let events): for event in events { try await send(event) }
            case .run(let body): try await body(send)
            }
            port.end(nil)
        } catch {
            await fail(error, feedback, request, send, port)
        }
    }

    /// The last failure of an effect becomes the feedback's event, where it has one; every other is reported.
    private func fail(
        _ error: any Error, _ feedback: Feedback<Definition.State, Event>, _ request: any Sendable,
        _ send: Send<Event>, _ port: EffectPort
    ) async {
        let advice = error as? any RetryAdvice
        let isFinal =
            advice?.isTransient == false || Int(port.grant.failures) + 1 >= feedback.policy.retry.attemptsMax
        if isFinal, !Task.isCancelled, let event = feedback.failureEvent?(request, error) {
            do {
                try await send(event)
                port.end(nil)
                return
            } catch {
                port.end(Failure(message: "\(error)", isFinal: true))
                return
            }
        }
        port.end(
            Failure(message: String("\(error)".prefix(1000)), isFinal: isFinal, retryAfter: advice?.retryAfter))
    }
}

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
    private let task: Task<Void, Never>?
    private let newer: RequestLine?
    private let coding: RequestCoding?
    private let coder: any ValueCoder

    init(_ task: Task<Void, Never>?, newer: RequestLine?, _ coding: RequestCoding?, _ coder: any ValueCoder) {
        self.task = task
        self.newer = newer
        self.coding = coding
        self.coder = coder
    }

    func update(_ bytes: [UInt8]) {
        if let request = try? coding?.decode(bytes, coder) { newer?.yield(request) }
    }

    func cancel() {
        task?.cancel()
        newer?.finish()
    }
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

    /// One reference, however much there is to a feedback: each effect holds its own.
    private final class Served: Sendable {
        let feedback: Feedback<Definition.State, Event>

        init(_ feedback: Feedback<Definition.State, Event>) { self.feedback = feedback }
    }

    /// By name, which is the same in every process; numbers are the journal's.
    private let feedbacks: [String: Served]
    private let coder: any ValueCoder

    init(_ definition: Definition, coder: any ValueCoder) {
        feedbacks = Dictionary(
            definition.allFeedbacks.map { ($0.name, Served($0)) }, uniquingKeysWith: { first, _ in first })
        self.coder = coder
    }

    func start(_ grant: Grant, of name: String?, port: EffectPort) -> RunningEffect {
        guard let served = name.flatMap({ feedbacks[$0] }), let coding = served.feedback.requestCoding else {
            let what = name.map { "\"\($0)\"" } ?? "number \(grant.effect.feedback)"
            port.end(Failure(message: "this node's definition has no feedback \(what); run the reducer's build on it"))
            return RunningEffect(nil, newer: nil, nil, coder)
        }
        let request: any Sendable
        do {
            request = try coding.decode(grant.request, coder)
        } catch {
            port.end(
                Failure(message: "the request of \(served.feedback.name) could not be read: \(error)", isFinal: true))
            return RunningEffect(nil, newer: nil, nil, coder)
        }
        let newer = RequestLine()
        let (id, history) = (grant.effect, port.history)
        let context = EffectContext(
            id: id, failures: Int(grant.failures), isResumed: grant.isResumed,
            idempotencyKey: "\(Definition.name)/\(history)/\(id)", updates: newer)
        let effect = served.feedback.effect(request, context)
        // The task is the effect: it is held by the node, cancelled by the reducer's word, and ends with its body.
        let task = Task {
            await run(effect, served, request, port)
            newer.finish()
        }
        return RunningEffect(task, newer: newer, coding, coder)
    }

    private func run(
        _ effect: Effect<Event>, _ served: Served, _ request: any Sendable, _ port: EffectPort
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
            await fail(error, served.feedback, request, send, port)
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

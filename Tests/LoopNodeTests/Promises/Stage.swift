import LoopApp
import LoopCore
import LoopNode
import LoopView
import Observation
import ZMQ

/// Where a loop runs; what it promises is the same.
enum Runtime: String, CaseIterable, Sendable {
    /// In this process, as `Loop`.
    case process
    /// As a reducer and a worker, with sockets between them.
    case cluster

    /// What effects said as they began, if the events began `counts` effects, each in its turn. In a process they begin one after the
    /// other; a worker is told of them in their order, and each may have a thread of its own: those of one event are sorted.
    func begun(_ said: [String], at counts: [Int]) -> [String] {
        guard self == .cluster else { return said }
        var rest = said[...]
        return counts.flatMap { count in
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count).sorted()
        } + rest
    }
}

/// A loop that runs, in either way.
final class Stage: Sendable {
    private enum Place: Sendable {
        case process(Loop<Tally.State, Int>)
        case cluster(
            RemoteLoop<Tally>, ReducerNode<Tally>, run: Task<Outcome?, any Error>, EffectNode<Tally>,
            Task<NodeEnd, any Error>)
    }

    let log: PromiseLog
    private let place: Place

    /// - Parameter feedbacks: run on the worker, where there is one.
    init(
        _ runtime: Runtime, initial: Int = 0, _ log: PromiseLog = PromiseLog(), _ feedbacks: [TallyFeedback] = [],
        reducer: Reducer<Tally.State, Int> = Tally.adding
    ) throws {
        self.log = log
        let state = Tally.State(value: initial)
        switch runtime {
        case .process:
            place = .process(Loop(Tally(initial: state, log: log, feedbacks: feedbacks, reducer: reducer)))
        case .cluster:
            let tally = Tally(
                initial: state, log: log, feedbacks: feedbacks.map { $0.on(.workers) }, reducer: reducer)
            // The address belongs to its context, and each stage has one of its own.
            let (context, address) = (try ZMQContext(), "inproc://promises" as ReducerAddress)
            let reducer = try ReducerNode(tally, configuration: .test(address, context))
            let run = Task { try await reducer.run() }
            let worker = try EffectNode(tally, configuration: .test(address, context, "worker"))
            let work = Task { try await worker.run() }
            let remote = try RemoteLoop(Tally.self, reducer: address, context: context, log: .silent)
            place = .cluster(remote, reducer, run: run, worker, work)
        }
    }

    /// Sends an event and waits until it was applied.
    @discardableResult
    func send(_ event: Int) async throws -> Seq {
        switch place {
        case .process(let loop):
            loop.send(event)
            return loop.seq
        case .cluster(let remote, _, _, _, _): return try await remote.sendAndConfirm(event).seq
        }
    }

    /// The states that an observer sees from now on, until the loop ends.
    func states(_ body: (Tally.State) -> Bool) async {
        switch place {
        case .process(let loop): for await state in loop.states where !body(state) { return }
        case .cluster(let remote, _, _, _, _): for await (_, state) in remote.states where !body(state) { return }
        }
    }

    /// A store over the loop, wherever it runs.
    func store() -> Store<Tally.State, Int> {
        switch place {
        case .process(let loop): Store(loop)
        case .cluster(let remote, _, _, _, _): Store(remote, showing: Tally.State(value: 0))
        }
    }

    /// The events that were reduced.
    var reduced: [Int] { log.said("reduce").compactMap { Int($0) } }

    /// What the loop came to, once it has ended by itself.
    var outcome: Outcome? {
        get async throws {
            switch place {
            case .process(let loop):
                for await _ in loop.states {}
                return loop.outcome
            case .cluster(_, _, let run, _, _): return try await run.value
            }
        }
    }

    func end() async throws {
        switch place {
        case .process(let loop): loop.stop()
        case .cluster(let remote, let reducer, let run, let worker, let work):
            worker.stop()
            _ = try await work.value
            await remote.close()
            reducer.stop()
            _ = try await run.value
        }
    }
}

/// Waits until what is read, which must be observable, is as wanted.
func until<Value: Sendable>(
    _ read: @escaping @Sendable () -> Value, _ isWanted: @escaping @Sendable (Value) -> Bool
) async {
    while true {
        let (changes, change) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let value = withObservationTracking(read) { _ = change.yield() }
        if isWanted(value) { return }
        for await _ in changes { break }
    }
}

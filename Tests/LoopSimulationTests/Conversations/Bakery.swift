import LoopCore
import LoopSimulation

/// Loaves are ordered, baked by workers, one second each, and sometimes not wanted any more.
struct Bakery: LoopDefinition {
    struct State: Codable, Equatable, Sendable {
        var wanted: [Int: Loaf] = [:]
        var baked: [Int] = []
        var isClosed = false
    }

    struct Loaf: Codable, Equatable, Sendable { var number: Int }

    enum Event: Codable, Equatable, Sendable {
        case ordered(Int)
        case cancelled(Int)
        case baked(Int)
        case closed
    }

    static let name = "bakery"
    let initial = State()

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .ordered(let number): state.wanted[number] = Loaf(number: number)
        case .cancelled(let number): state.wanted[number] = nil
        case .baked(let number):
            state.wanted[number] = nil
            state.baked.append(number)
        case .closed: state.isClosed = true
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        [.react("bake", requests: \.wanted) { (_: Loaf) in .run { _ in } }.on(.workers)]
    }

    func outcome(of state: State) -> Outcome? {
        state.isClosed ? Outcome(text: "\(state.baked.count) baked") : nil
    }

    /// A bakery that bakes, with nothing left to chance but the milliseconds that messages take.
    static func cluster(workers: Int) -> SimulatedCluster<Bakery> {
        let cluster = SimulatedCluster(Bakery(), seed: 1, faults: .none, workers: workers, duration: .seconds(1))
        cluster.planning = { plan in
            plan.silenceLimit = .seconds(3)
            plan.latencyMax = .milliseconds(2)
            plan.syncMax = .milliseconds(2)
            plan.capacity = 2
            plan.outboxEntriesMax = 64
            plan.inboxWindow = 40
            plan.drainMax = 1024
            plan.pipeMax = 1000
            plan.hasStateHashes = false
            plan.buildReplacedAt = .max
        }
        cluster.answer("bake") { (loaf: Loaf, effect: inout SimulatedEffect<Event>) in
            effect.pause(.seconds(1))
            effect.send(.baked(loaf.number))
        }
        return cluster
    }
}

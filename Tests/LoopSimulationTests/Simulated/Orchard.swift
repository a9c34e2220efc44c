import LoopCore

/// A loop for tests: trees are planted by clients, picked by workers, and counted in the reducer's process; when all that were
/// to be planted are counted, it ends.
struct Orchard: LoopDefinition {
    static let name = "orchard"

    struct State: Codable, Equatable {
        var planted: Set<Int> = []
        var picked: [Int: Int] = [:]
        var counted: Set<Int> = []
        var isWatched = false
        var sightings = 0
        /// A value that a replay cannot compute again; see `fickleness`.
        var whim = 0

        var watched: String? { isWatched ? "the orchard" : nil }
        var ripe: [Int: Tree] { trees(planted.filter { picked[$0] == nil }) }
        var due: [Int: Tree] { trees(Set(picked.keys).subtracting(counted)) }

        private func trees(_ numbers: Set<Int>) -> [Int: Tree] {
            Dictionary(uniqueKeysWithValues: numbers.map { ($0, Tree(number: $0)) })
        }
    }

    enum Event: Codable, Equatable, Sendable {
        case planted(Int)
        case picked(Int, apples: Int)
        case counted(Int)
        case withered(Int)
        case seen
    }

    struct Tree: Codable, Equatable, Sendable { var number: Int }

    /// The loop ends when this many trees are counted. With 0 it goes on for ever.
    var treeCount = 4
    /// What reducing depends on besides its arguments.
    var fickleness: Fickleness?

    enum Fickleness: Sendable { case randomness, setOrder }

    let initial = State()

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch fickleness {
        case .randomness: state.whim = Int.random(in: 0..<1_000_000)
        case .setOrder: state.whim = state.planted.first ?? 0
        case nil: break
        }
        switch event {
        case .planted(let tree): state.planted.insert(tree)
        case .picked(let tree, let apples): state.picked[tree] = apples
        case .counted(let tree): state.counted.insert(tree)
        case .withered(let tree): state.picked[tree] = 0
        case .seen: state.sightings += 1
        }
        state.isWatched = state.planted.count > 1
    }

    var feedbacks: [Feedback<State, Event>] {
        [
            .react("pick", requests: \.ripe) {
                (_: Tree) in .run { _ in }
            }
            .on(.workers)
            .retry(.exponential(max: 3, first: .milliseconds(50)))
            .failing { (tree: Tree, _) in .withered(tree.number) },
            .react("count", requests: \.due) { (tree: Tree) in .events(.counted(tree.number)) },
            .react("watch", request: \.watched) { _ in .run { _ in } }.on(.workers),
        ]
    }

    func outcome(of state: State) -> Outcome? {
        guard treeCount > 0, state.counted.count == treeCount else { return nil }
        let apples = state.picked.values.reduce(0, +)
        return Outcome(text: "\(apples) apples", exitCode: apples > 0 ? 1 : 0)
    }
}

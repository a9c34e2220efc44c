import LoopCollections
import LoopCore

/// Keeps notes in the order in which they came; squares numbers in the reducer's process, or on workers.
struct Notes: LoopDefinition {
    struct State: Codable, Sendable, Equatable {
        var notes: [Int] = []
        var wanted: Set<Int> = []
        var squares: [Int: Int] = [:]
        var isOver = false
    }

    enum Event: Codable, Sendable {
        case note(Int)
        case want(Int)
        case square(Int, Int)
        case end
    }

    static let name = "notes"
    let initial = State()
    var placement: Placement = .workers
    var square: @Sendable (Int) async throws -> Int = { $0 * $0 }

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .note(let note): state.notes.append(note)
        case .want(let number): state.wanted.insert(number)
        case .square(let number, let square):
            state.wanted.remove(number)
            state.squares[number] = square
        case .end: state.isOver = true
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        [
            .react("square", requests: \.wanted) { [square] number in
                .run { send in try await send(.square(number, try await square(number))) }
            }
            .on(placement)
        ]
    }

    func outcome(of state: State) -> Outcome? { state.isOver ? Outcome(text: "\(state.notes.count) notes") : nil }
}

/// A body that waits until it is cancelled, and what becomes of such bodies.
final class Hung: Sendable {
    private let counts = Locked((arrived: 0, cancelled: 0))

    var arrived: Int { counts.withLock { $0.arrived } }
    var cancelled: Int { counts.withLock { $0.cancelled } }

    var square: @Sendable (Int) async throws -> Int {
        { [counts] number in
            counts.withLock { $0.arrived += 1 }
            do {
                try await Task.sleep(for: .seconds(86_400))
            } catch {
                counts.withLock { $0.cancelled += 1 }
                throw error
            }
            return number
        }
    }
}

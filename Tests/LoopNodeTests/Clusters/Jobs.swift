import LoopCore

/// A loop for tests: a number of jobs, each done by an effect that sends the square of its number.
struct Jobs: LoopDefinition {
    struct State: Codable, Sendable, Equatable {
        var waiting: [Int: Int] = [:]
        var done: [Int: Int] = [:]
        var total = 0
        var notes: [String] = []
    }

    enum Event: Codable, Sendable, Equatable {
        case add(Int)
        case squared(Int, Int)
        case note(String)
        case forget(Int)
    }

    static let name = "jobs"
    let placement: Placement
    /// Whether the loop ends when all jobs are done.
    let ends: Bool
    let work: @Sendable (Int) async throws -> Int
    let initial = State()

    init(
        placement: Placement = .workers, ends: Bool = true,
        work: @escaping @Sendable (Int) async throws -> Int = { $0 * $0 }
    ) {
        self.placement = placement
        self.ends = ends
        self.work = work
    }

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .add(let count):
            for job in state.total..<state.total + count { state.waiting[job] = job }
            state.total += count
        case .squared(let job, let square):
            state.waiting[job] = nil
            state.done[job] = square
        case .note(let text): state.notes.append(text)
        case .forget(let job): state.waiting[job] = nil
        }
    }

    enum Answer: Codable, Sendable, Equatable {
        case count(total: Int, waiting: Int)
        case notes([String])
    }

    func answer(to event: Event, in state: State) -> Answer? {
        switch event {
        case .add: .count(total: state.total, waiting: state.waiting.count)
        case .note(let text): .notes(Array(state.notes.drop { $0 != text }))
        case .squared, .forget: nil
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        let work = work
        return [
            .react("square", requests: \.waiting) { job in
                .run { send in try await send(.squared(job, try await work(job))) }
            }
            .on(placement)
        ]
    }

    func outcome(of state: State) -> Outcome? {
        guard ends, state.total > 0, state.done.count == state.total else { return nil }
        return Outcome(text: "sum \(state.done.values.reduce(0, +))")
    }
}

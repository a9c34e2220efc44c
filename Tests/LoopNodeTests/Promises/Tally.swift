import LoopCore

/// A loop of small numbers whose feedbacks are a test's, and which tells what it reduces.
struct Tally: LoopDefinition {
    struct State: Codable, Equatable, Sendable {
        var value: Int
        var events: [Int] = []
        /// A part that is not always there.
        var guest: Int?
    }

    typealias Event = Int

    static let name = "tally"
    /// The loop ends at this value.
    static let end = 1000

    let initial: State
    let log: PromiseLog
    let feedbacks: [Feedback<State, Int>]
    var reducer = Self.adding

    /// Adds every event to the value.
    static let adding = Reducer<State, Int> { state, event in state.value += event }

    func reduce(into state: inout State, _ event: Int, _ transition: Transition) {
        reducer(&state, event, transition)
        state.events.append(event)
        log.add("reduce \(event)")
    }

    func outcome(of state: State) -> Outcome? {
        state.value >= Self.end ? Outcome(text: "\(state.events)") : nil
    }
}

typealias TallyFeedback = Feedback<Tally.State, Int>

extension Effect {
    /// Tells of its start and its cancellation, and lasts until then.
    static func lasting(_ name: String, _ log: PromiseLog) -> Effect {
        log.add("start \(name)")
        return .run { _ in
            await withTaskCancellationHandler {
                try? await Task.sleep(for: .seconds(3600))
            } onCancel: {
                log.add("cancel \(name)")
            }
        }
    }

    /// Tells of its start and has ended.
    static func passing(_ name: String, _ log: PromiseLog) -> Effect {
        log.add("start \(name)")
        return .none
    }
}

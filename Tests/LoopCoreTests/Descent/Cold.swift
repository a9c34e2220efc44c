import LoopCollections
import LoopCompatibility
import LoopCore

/// A loop of numbers that counts up, one event at a time, by effects of one kind.
enum Pace: String, CaseIterable, Sendable {
    case immediate, task, custom, source, bind, stream

    /// Sends 1 until the state is `limit`.
    func feedback(upTo limit: Int) -> Feedback<Int, Int> {
        switch self {
        case .immediate: .whileTrue("up", state: { $0 < limit }, effects: { _ in .event(1) })
        case .task: .whileTrue("up", state: { $0 < limit }, effects: { _ in .task { 1 } })
        case .custom:
            .custom("up") { transitions, send in
                for await (state, _) in transitions where state < limit { try? await send(1) }
            }
        case .source: .source("up") { send in for _ in 0..<limit { try await send(1) } }
        case .bind:
            .bind("up") { Bindings(events: [{ send in for _ in 0..<limit { try? await send(1) } }]) }
        case .stream: .events("up") { states in states.filter { $0 < limit }.map { _ in 1 } }
        }
    }
}

/// The cold forms, which mean the same.
enum ColdForm: String, CaseIterable, Sendable {
    case system, feedbackLoop, systemOfReducer, feedbackLoopOfReducer

    func states(_ feedbacks: [Feedback<Int, Int>]) -> ColdStates<Int> {
        let add: @Sendable (Int, Int) -> Int = { $0 + $1 }
        let change: @Sendable (inout Int, Int) -> Void = { $0 += $1 }
        return switch self {
        case .system: LoopCore.system(initial: 0, reduce: add, feedbacks: feedbacks)
        case .feedbackLoop: LoopCore.feedbackLoop(initial: 0, reduce: add, feedbacks: feedbacks)
        case .systemOfReducer: LoopCore.system(initial: 0, reducer: change, feedbacks: feedbacks)
        case .feedbackLoopOfReducer: LoopCore.feedbackLoop(initial: 0, reducer: change, feedbacks: feedbacks)
        }
    }
}

/// The first elements of a sequence.
func take<Elements: AsyncSequence>(
    _ count: Int, of elements: Elements
) async -> [Elements.Element] where Elements.Failure == Never {
    var taken: [Elements.Element] = []
    if count == 0 { return taken }
    for await element in elements {
        taken.append(element)
        if taken.count == count { break }
    }
    return taken
}

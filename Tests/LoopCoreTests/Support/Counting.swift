import LoopCollections
import LoopCore

/// A state of small numbers that keeps the events that made it.
struct Counting: Codable, Equatable, Sendable {
    var value = 0
    var events: [String] = []
}

typealias CountingLoop = Loop<Counting, Int>
typealias CountingFeedback = Feedback<Counting, Int>

/// Adds every event to the value.
func counting(
    _ feedbacks: [CountingFeedback] = [], initial: Int = 0, clock: some Clock<Duration> = ContinuousClock()
) -> CountingLoop {
    CountingLoop(
        initial: Counting(value: initial),
        reducer: { state, event in
            state.value += event
            state.events.append("\(event)")
        },
        feedbacks: feedbacks, clock: clock, seed: 1)
}

/// The loop of a test, for the closures that were made before it.
typealias LoopHolder = Locked<CountingLoop?>

extension Locked where Value == CountingLoop? {
    var loop: CountingLoop? { withLock { $0 } }
    func hold(_ loop: CountingLoop?) { withLock { $0 = loop } }
}

extension Effect {
    /// Logs its creation, its run and its cancellation, and lasts until it is cancelled.
    static func lasting(_ name: String, _ log: Log) -> Effect {
        log.add("start \(name)")
        return .run { _ in
            await withTaskCancellationHandler {
                log.add("run \(name)")
                try? await Task.sleep(for: .seconds(3600))
            } onCancel: {
                log.add("cancel \(name)")
            }
        }
    }
}

/// The first state for which `condition` holds.
func first(_ loop: CountingLoop, where condition: (Counting) -> Bool) async -> Counting? {
    for await state in loop.states where condition(state) { return state }
    return nil
}

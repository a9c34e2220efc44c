import LoopCore
import LoopView

/// A loop for tests: a count, a name, and a part that may be absent.
struct Counter: Equatable, Sendable {
    var count = 0
    var name = ""
    var isOn = false
    var part: Part?

    struct Part: Equatable, Sendable {
        var title = ""
        var visits = 0
    }

    var doubled: Int { count * 2 }

    enum Event: Equatable, Sendable {
        case add(Int)
        case rename(String)
        case flip(Bool)
        case open(String)
        case close
        case part(PartEvent)
    }

    enum PartEvent: Equatable, Sendable {
        case visit
    }

    static func reduce(_ state: inout Counter, _ event: Event) {
        switch event {
        case .add(let number): state.count += number
        case .rename(let name): state.name = name
        case .flip(let isOn): state.isOn = isOn
        case .open(let title): state.part = Part(title: title)
        case .close: state.part = nil
        case .part(.visit): state.part?.visits += 1
        }
    }

    static func loop(
        _ initial: Counter = Counter(), feedbacks: [Feedback<Counter, Event>] = []
    ) -> Loop<Counter, Event> {
        Loop(initial: initial, reducer: reduce, feedbacks: feedbacks)
    }

    static func store(_ initial: Counter = Counter()) -> Store<Counter, Event> { Store(loop(initial)) }
}

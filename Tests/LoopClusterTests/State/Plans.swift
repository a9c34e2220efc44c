import LoopCluster
import LoopCore
import LoopWire

/// Three builds of one loop, each with another schema.
enum Plans {
    /// Schema 1: how many hours each task takes.
    struct First: LoopDefinition {
        static let name = "plan"

        struct State: Codable, Equatable, Sendable { var hours: [String: Int] = [:] }

        enum Event: Codable, Equatable, Sendable {
            case add(String, Int)
            case remove(String)
        }

        var initial: State { State() }

        func reduce(into state: inout State, _ event: Event, _: Transition) {
            switch event {
            case .add(let name, let hours): state.hours[name] = hours
            case .remove(let name): state.hours[name] = nil
            }
        }

        var feedbacks: [Feedback<State, Event>] {
            [
                .react("tasks", requests: { Set($0.hours.keys) }, effect: { (_: String) in .none }).on(.workers),
                .react("old news", requests: { Set($0.hours.keys) }, effect: { (_: String) in .none }).on(.workers),
            ]
        }
    }

    /// Schema 2: minutes, and who does it. Reads schema 1.
    struct Second: LoopDefinition {
        static let name = "plan"
        static let schema = 2
        static let oldestSchema = 1

        struct Task: Codable, Equatable, Sendable {
            var minutes: Int
            var owner: String
        }

        struct State: Codable, Equatable, Sendable { var tasks: [String: Task] = [:] }

        enum Event: Codable, Equatable, Sendable {
            case add(String, Task)
            case remove(String)
        }

        var initial: State { State() }

        func reduce(into state: inout State, _ event: Event, _: Transition) {
            switch event {
            case .add(let name, let task): state.tasks[name] = task
            case .remove(let name): state.tasks[name] = nil
            }
        }

        var feedbacks: [Feedback<State, Event>] {
            [
                .react("reviews", requests: { Set($0.tasks.keys) }, effect: { (_: String) in .none }).on(.workers),
                .react("tasks", requests: { Set($0.tasks.keys) }, effect: { (_: String) in .none }).on(.workers),
            ]
        }

        func migrateState(_ old: Encoded, from schema: Int, at time: WallTime) throws -> State {
            State(tasks: try old.decode(First.State.self).hours.mapValues { Task(minutes: $0 * 60, owner: "nobody") })
        }

        func migrateEvent(_ old: Encoded, from schema: Int) throws -> Event {
            switch try old.decode(First.Event.self) {
            case .add(let name, let hours): .add(name, Task(minutes: hours * 60, owner: "nobody"))
            case .remove(let name): .remove(name)
            }
        }
    }

    /// Schema 3: as schema 2, which is the oldest that it reads, by decoding it as it is.
    struct Third: LoopDefinition {
        static let name = "plan"
        static let schema = 3
        static let oldestSchema = 2

        typealias State = Second.State
        typealias Event = Second.Event

        var initial: State { State() }
        func reduce(into state: inout State, _ event: Event, _ transition: Transition) {
            Second().reduce(into: &state, event, transition)
        }
        var feedbacks: [Feedback<State, Event>] { Second().feedbacks }
    }
}

import LoopCore
import LoopTesting

/// A traffic light at a crossing, to be tested by a user: a timer for each colour, cameras that follow their setting, and a
/// log that is written by itself.
struct Crossing: LoopDefinition {
    enum Colour: String, Codable, Sendable { case red, green, yellow }

    struct State: Codable, Equatable, Sendable {
        var colour = Colour.red
        var isPaused = false
        var cameras: [String: Int] = [:]
        var pictures: [String] = []
        var notes = 0
        var timed: Colour? { isPaused ? nil : colour }
    }

    enum Event: Codable, Equatable, Sendable {
        case next, pause, resume
        case aim(String, Int)
        case remove(String)
        case picture(String)
        case broken(String)
        case noted
        case close
        var note: String? { self == .pause ? "paused" : nil }
    }

    static let name = "crossing"
    let initial = State()
    var timer = EffectPolicy()
    var camera = EffectPolicy()

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .next:
            state.colour = state.colour == .red ? .green : state.colour == .green ? .yellow : .red
        case .pause: state.isPaused = true
        case .resume: state.isPaused = false
        case .aim(let name, let angle): state.cameras[name] = angle
        case .remove(let name): state.cameras[name] = nil
        case .picture(let picture): state.pictures.append(picture)
        case .broken(let name):
            state.cameras[name] = nil
            state.pictures.append("no \(name)")
        case .noted: state.notes += 1
        case .close: state.pictures = ["closed"]
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        [
            .react("timer", request: \.timed) { (_: Colour) in
                .task { .next }
            }
            .policy(timer),
            .react("camera", requests: \.cameras) { (_: Int) in .task { nil } }.policy(camera),
            .extracting("log", payload: \.note) { (_: String) in .event(.noted) },
            .input("button", Input()),
        ]
    }

    func outcome(of state: State) -> Outcome? {
        state.pictures == ["closed"] ? Outcome(text: "closed", exitCode: 1) : nil
    }
}

typealias CrossingLoop = TestLoop<Crossing.State, Crossing.Event>

struct Broken: RetryAdvice, CustomStringConvertible {
    var isTransient = true
    var retryAfter: Duration?
    var description: String { "broken" }
}

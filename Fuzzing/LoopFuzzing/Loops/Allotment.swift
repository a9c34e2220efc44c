import LoopCompatibility
import LoopCore

/// The loop of the targets that need one: a feedback of every form that remembers something, small values, and effects that
/// fail, wait and are limited.
struct Allotment: LoopDefinition {
    static let name = "allotment"
    static let schema = 2
    static let oldestSchema = 1

    struct State: Codable, Equatable, Sendable {
        var beds: [String: Int] = [:]
        var weather: String?
        var shed: Shed?
        var days = 0
        var isOver = false
    }

    struct Shed: Codable, Equatable, Sendable {
        var shelves: [Int: String] = [:]
    }

    enum Event: Codable, Equatable, Sendable {
        case plant(String, Int)
        case dig(String)
        case weather(String?)
        case shed(Shed?)
        case sleep
        case call(String)
        case leave
    }

    var initial: State { State(beds: ["rose": 1]) }

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .plant(let name, let water): state.beds[name] = water
        case .dig(let name): state.beds[name] = nil
        case .weather(let weather): state.weather = weather
        case .shed(let shed): state.shed = shed
        case .sleep: state.days &+= 1
        case .call: break
        case .leave: state.isOver = true
        }
    }

    enum Answer: Codable, Sendable {
        case beds([String: Int])
        case days(Int)
    }

    func answer(to event: Event, in state: State) -> Answer? {
        switch event {
        case .plant, .dig: .beds(state.beds)
        case .sleep: .days(state.days)
        case .weather, .shed, .call, .leave: nil
        }
    }

    var sections: [StateSection<State>] { [StateSection("beds", \.beds)] }

    func migrateState(_ old: Encoded, from schema: Int, at time: WallTime) throws -> State {
        State(days: try old.decode(Int.self))
    }

    func outcome(of state: State) -> Outcome? { state.isOver ? Outcome(text: "left", exitCode: 1) : nil }

    func progress(of state: State) -> Progress? { Progress(done: state.days, found: state.beds.count, unit: "days") }

    private typealias Form = Feedback<State, Event>

    private static let called: @Sendable (Event) -> String? = { if case .call(let name) = $0 { name } else { nil } }
    private static let weather: @Sendable (State) -> String? = { $0.weather }
    private static let retry = EffectPolicy(
        retry: .exponential(max: 3), timeout: .seconds(5), concurrency: 4, rate: RateLimit(perSecond: 10, burst: 2))

    var feedbacks: [Feedback<State, Event>] {
        [
            Feedback(
                name: "beds", placement: .workers, policy: Self.retry,
                query: { KeyedQuery<State, Event, String, Int> { $0.beds } }, effect: { (_: Int, _) in .none }),
            .react("weather", request: Self.weather) { (_: String) in .none },
            .firstValueAfterNil("forecast", state: Self.weather) { (_: String) in .none },
            .extracting("calls", payload: Self.called) { (_: String) in .none },
            .whileTrue("awake", state: { $0.beds.count > 1 }, effects: { _ in .none }),
            Feedback<Shed, Event>.react("shelves", requests: \.shelves) { (_: String) in .none }.pullback(
                optionalValue: { $0.shed }, embedEvent: { $0 }, extractEvent: { $0 }),
            Form.react("grouped", requests: \.beds) { (_: Int) in .none }.grouped { (water: Int) in "\(water % 2)" },
        ]
    }
}

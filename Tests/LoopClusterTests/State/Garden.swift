import LoopCluster
import LoopCompatibility
import LoopCore
import LoopWire

/// A loop with a feedback of every form, for tests of what queries remember.
struct Garden: LoopDefinition {
    static let name = "garden"

    struct State: Codable, Equatable, Sendable {
        var beds: [String: Int] = [:]
        var tools: Set<String> = []
        var weather: String?
        var shed: Shed?
        var day = 0
    }

    struct Shed: Codable, Equatable, Sendable {
        var shelves: [Int: String] = [:]
        var lamp: Int?
    }

    enum Event: Codable, Equatable, Sendable {
        case plant(String, Int)
        case dig(String)
        case take(String)
        case leave(String)
        case weather(String?)
        case shed(Shed?)
        case sleep
        case call(String)
    }

    var initial: State { State(beds: ["rose": 1], tools: ["rake"]) }

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .plant(let name, let water): state.beds[name] = water
        case .dig(let name): state.beds[name] = nil
        case .take(let name): state.tools.insert(name)
        case .leave(let name): state.tools.remove(name)
        case .weather(let weather): state.weather = weather
        case .shed(let shed): state.shed = shed
        case .sleep: state.day += 1
        case .call: break
        }
    }

    typealias Form = Feedback<State, Event>

    static let called: @Sendable (Event) -> String? = { if case .call(let name) = $0 { name } else { nil } }
    static let weather: @Sendable (State) -> String? = { $0.weather }

    var feedbacks: [Form] {
        [
            .react("each", requests: \.beds) { (_: Int) in .none },
            .react("react", requests: \.tools) { (_: String) in .none },
            .react("react to one", request: Self.weather) { (_: String) in .none },
            .lensing("lensing", state: Self.weather) { (_: String) in .none },
            .react("skippingRepeated", request: Self.weather) { (_: String) in .none },
            .firstValueAfterNil("firstValueAfterNil", state: Self.weather) { (_: String) in .none },
            .whenBecomesTrue("whenBecomesTrue", state: { $0.beds.count > 2 }, effect: { _ in .none }),
            .whileTrue("whileTrue", state: { $0.beds.count > 1 }, effects: { _ in .none }),
            .everyState("everyState") { _ in .none },
            .extracting("extracting", payload: Self.called) { (_: String) in .none },
            .extractingAndKeeping("extractingAndKeeping", payload: Self.called) { (_: String) in .none },
            .skippingRepeated("repeated events", events: Self.called) { (_: String) in .none },
            .skippingRepeatedAndKeeping("kept events", events: Self.called) { (_: String) in .none },
            .middleware("middleware") { _, _ in .none },
            .source("source") { _ in },
            Feedback<Shed, Event>.react("shelves", requests: \.shelves) { (_: String) in .none }.pullback(
                optionalValue: { $0.shed }, embedEvent: { $0 }, extractEvent: { $0 }),
            Feedback<Shed, Event>.lensing("lamp", state: { $0.lamp }) { (_: Int) in .none }.pullback(
                optionalValue: { $0.shed }, embedEvent: { $0 }, extractEvent: { $0 }),
            Form.react("autoconnect", requests: \.beds) { (_: Int) in .none }
                .autoconnect(followingChangesIn: { $0.day.isMultiple(of: 2) })
                .autoconnect(followingChangesIn: { $0.weather != "storm" }),
            Form.react("grouped", requests: \.beds) { (_: Int) in .none }.grouped { (water: Int) in "\(water % 2)" },
        ]
    }
}

extension Garden.Event {
    static func any(_ random: inout SeededRandom) -> Garden.Event {
        let names = ["rose", "oak", "fern", "ivy", "moss"]
        let name = names[Int.random(in: 0..<names.count, using: &random)]
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1: return .plant(name, Int.random(in: 0..<3, using: &random))
        case 2: return .dig(name)
        case 3: return .take(name)
        case 4: return .leave(name)
        case 5: return .weather([nil, "sun", "rain", "storm"][Int.random(in: 0..<4, using: &random)])
        case 6:
            return .shed(
                Garden.Shed(
                    shelves: Int.random(in: 0..<2, using: &random) == 0 ? [1: name] : [1: name, 2: "pots"],
                    lamp: Int.random(in: 0..<2, using: &random) == 0 ? nil : 1))
        case 7: return .shed(nil)
        case 8: return .sleep
        default: return .call(name)
        }
    }
}

extension EffectChange {
    /// In words that two evaluators can be compared by.
    var inWords: String {
        switch self {
        case .start(let id, let request): "start \(id): \(request)"
        case .update(let id, let request): "update \(id): \(request)"
        case .cancel(let id): "cancel \(id)"
        }
    }
}

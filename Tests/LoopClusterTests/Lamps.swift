import LoopCore
import LoopWire

/// The loop of these tests: named lamps that are to burn, each an effect; and one siren in the reducer's own process.
struct Lamps: LoopDefinition {
    static let name = "lamps"
    static let schema = 2
    var policy = EffectPolicy()
    /// Called while a mine is reduced, or while the query looks at a lamp named "mine": where another loop would trap.
    var onMine: @Sendable () -> Void = {}
    /// Whether a lamp that has failed for good becomes a note. One of the strength 13 steps on a mine in that, one of 14 becomes
    /// a mine, and there is no event for one of 15.
    var hasFailing = false

    struct State: Codable, Equatable, Sendable {
        var burning: [String: Int] = [:]
        var notes = 0
        var isOver = false
    }

    enum Event: Codable, Equatable, Sendable {
        case light(String, Int)
        case darken(String)
        case note
        case mine(Int)
        case finish
    }

    var initial: State { State() }

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .light(let name, let strength): state.burning[name] = strength
        case .darken(let name): state.burning[name] = nil
        case .note: state.notes += 1
        case .mine:
            onMine()
            state.notes += 1
        case .finish: state.isOver = true
        }
    }

    /// An answer is encoded as its value alone.
    enum Answer: Codable, Sendable {
        case burning([String: Int])
        case notes(Int)
        case text(String)

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .burning(let lamps): try lamps.encode(to: encoder)
            case .notes(let count): try count.encode(to: encoder)
            case .text(let text): try text.encode(to: encoder)
            }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let count = try? container.decode(Int.self) {
                self = .notes(count)
            } else if let text = try? container.decode(String.self) {
                self = .text(text)
            } else {
                self = .burning(try container.decode([String: Int].self))
            }
        }
    }

    func answer(to event: Event, in state: State) -> Answer? {
        switch event {
        case .light: .burning(state.burning)
        case .note: .notes(state.notes)
        // As many bytes as the event says.
        case .mine(let size): .text(String(repeating: "m", count: size))
        case .darken, .finish: nil
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        let onMine = onMine
        let lamps = Feedback<State, Event>(
            name: "lamps", placement: .workers, policy: policy,
            query: {
                KeyedQuery<State, Event, String, Int> { state in
                    if state.burning["mine"] != nil { onMine() }
                    return state.burning
                }
            }, effect: { (_: Int, _) in .none })
        // Where there is a priority, a lamp's is its strength.
        let ranked = policy.priorityStep.map { lamps.priority({ (strength: Int) in strength }, step: $0) } ?? lamps
        guard hasFailing else { return [ranked] }
        return [
            ranked.failing { (strength: Int, failure) in
                if strength == 13 { onMine() }
                return strength == 15 ? nil : strength == 14 ? .mine(failure.message.count) : .note
            }
        ]
    }

    func outcome(of state: State) -> Outcome? { state.isOver ? Outcome(text: "done", exitCode: 1) : nil }
}

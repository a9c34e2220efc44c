import LoopCluster
import LoopCore
import LoopWire

/// A loop whose one effect has a request that is too large to be sent.
struct Words: LoopDefinition {
    static let name = "words"

    struct State: Codable, Equatable, Sendable { var length = 0 }
    enum Event: Codable, Equatable, Sendable { case grow }

    var initial: State { State() }
    func reduce(_ state: inout State, _ event: Event) { state.length = 600 << 10 }

    var feedbacks: [Feedback<State, Event>] {
        [
            Feedback(
                name: "words", placement: .workers, policy: EffectPolicy(),
                query: {
                    KeyedQuery<State, Event, Int, String> { state in
                        state.length > 0 ? [0: String(repeating: "w", count: state.length)] : [:]
                    }
                }, effect: { (_: String, _) in .none })
        ]
    }
}

/// A reducer of it, in which that effect is wanted.
struct WordBench {
    private var machine: ReducerMachine<Words>
    private let now = ReducerBench.moment(1000)
    private let coder = CBORCoder()

    init() throws {
        machine = ReducerMachine(
            definition: Words(), configuration: ReducerConfiguration(), coder: coder, history: History(1), seed: 1,
            at: now)
        try machine.replay(
            .event(
                EventRecord(
                    seq: Seq(1), time: now.wall, session: .none, number: 0, effect: nil, attempt: .none,
                    wantsSeq: false, bytes: try coder.encode(Words.Event.grow)[...])))
        machine.begin(nonce: 1, at: now)
    }

    mutating func ask(_ request: AdministrationRequest) -> AdministrationAnswer {
        let document = ((try? coder.encode(request)) ?? [])[...]
        machine.receive(.administration(request: 1, document), from: .router([1]), at: now)
        machine.advance(to: now)
        let ready = machine.ready()
        let position = ready.position
        return ready.release(JournalReceipt(through: position)).answer(1) ?? .refused("no answer")
    }
}

import LoopCluster
import LoopCore
import LoopWire

/// A loop whose one effect has a request that may be too large to be sent.
struct Words: LoopDefinition {
    static let name = "words"

    struct State: Codable, Equatable, Sendable { var length = 0 }
    enum Event: Codable, Equatable, Sendable { case grow, shrink }

    var initial: State { State() }
    func reduce(into state: inout State, _ event: Event, _: Transition) {
        state.length = event == .grow ? 600 << 10 : 3
    }

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

/// A reducer of it with a worker, in which that effect is wanted and too large.
struct WordBench {
    private var machine: ReducerMachine
    private let now = ReducerBench.moment(1000)
    private let coder = CBORCoder()
    private var sentCount: UInt64 = 0

    init() throws {
        machine = ReducerMachine(
            definition: Words(), configuration: ReducerConfiguration(), coder: coder, history: History(1), seed: 1,
            nonce: 1, at: now)
        let peer = PeerID(high: 0, low: 1)
        _ = turn {
            $0.receive(
                .join(
                    JoinRequest(
                        peer: peer, session: .none, history: .none, epoch: .none, watermark: 0, schema: 0,
                        fingerprint: 0, capacity: 1, groups: ["default"], name: "words",
                        feedbacks: DefinitionFingerprint(of: Words()).feedbacks)), from: .router([1]),
                by: .unknown)
        }
        _ = turn { $0.receive(.claim(SessionID(1), $0.epoch, []), from: .router([1]), by: .unknown) }
        _ = try send(.grow)
    }

    mutating func send(_ event: Words.Event) throws -> [Outbound] {
        sentCount += 1
        let entry = Entry(kind: .event, payload: try coder.encode(event)[...])
        let batch = Batch(
            loop: LoopID(name: Words.name), history: History(1), session: SessionID(1), settled: 0, applied: 0,
            first: sentCount, entries: [entry])
        return turn { $0.receive(batch, by: .unknown) }
    }

    mutating func ask(_ request: AdministrationRequest) -> AdministrationAnswer {
        let document = ((try? coder.encode(request)) ?? [])[...]
        return turn { $0.receive(.administration(request: 1, document), from: .router([1]), by: .unknown) }.answer(1)
            ?? .refused("no answer")
    }

    private mutating func turn(_ take: (inout ReducerMachine) -> Void) -> [Outbound] {
        let ready = machine.turn(at: now, take)
        let position = ready.position
        return machine.release(ready, JournalReceipt(through: position)).messages
    }
}

import LoopCluster
import LoopCore
import LoopJournal
import LoopNode
import LoopWire

/// A loop that ends its process on demand.
struct Fuses: LoopDefinition {
    static let name = "fuses"

    struct State: Codable, Equatable, Sendable {
        var count = 0
        var isArmed = false
        var isOver = false

        var wanted: [Int: Int] { isArmed ? [0: 0] : [:] }
    }

    enum Event: Codable, Equatable, Sendable {
        case step
        case trap
        case overflow
        case arm
        case finish
    }

    var initial: State { State() }

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .step: state.count += 1
        case .trap: state.count = [1, 2][state.count + 2]
        case .overflow: state.count = Fuses.depth(of: 1)
        case .arm: state.isArmed = true
        case .finish: state.isOver = true
        }
    }

    /// Once it is armed, an effect in the reducer's own process lights the fuse, until it is told that this will not do.
    var feedbacks: [Feedback<State, Event>] {
        [
            .react(
                "fuse", requests: \.wanted
            ) { _ in .run { send in try await send.sendAndConfirm(.trap) } }.retry(
                Retry(attemptsMax: 2, firstDelay: .milliseconds(1), delayMax: .milliseconds(1), jitter: 0))
        ]
    }

    func outcome(of state: State) -> Outcome? { state.isOver ? Outcome(text: "counted \(state.count)") : nil }

    /// Never comes to an end.
    @inline(never) private static func depth(of number: Int) -> Int { number == 0 ? 0 : depth(of: number + 1) + number }
}

/// A life of a process with a crash note, without sockets: a client's events, in one batch.
struct FusedReducer {
    var machine: ReducerMachine
    private(set) var records: [Record] = []
    static let history = History(0x5eed)
    private static let peer = PeerID(high: 0, low: 9)
    private static let now = Moment(monotonic: .zero + .seconds(5), wall: WallTime(milliseconds: 5000))

    /// A start on a journal in which the client has its session.
    init(note: CrashNote) throws {
        var state = JournaledState(definition: Fuses(), coder: CBORCoder(), history: Self.history)
        try state.apply(.sessionOpened(SessionID(1), Self.peer))
        state.note = note
        machine = ReducerMachine(
            recovered: state, configuration: ReducerConfiguration(), seed: 1, nonce: 1, at: Self.now)
        turn {
            $0.receive(
                .join(
                    JoinRequest(
                        peer: Self.peer, session: .none, history: .none, epoch: .none, watermark: 0, schema: 0,
                        fingerprint: 0, capacity: 0, groups: [], name: "client")),
                from: .router([9]), by: .unknown)
        }
        turn { $0.receive(.claim(SessionID(1), $0.epoch, []), from: .router([9]), by: .unknown) }
    }

    mutating func send(_ events: [Fuses.Event]) throws {
        let entries = try events.map { Entry(kind: .event, payload: try CBORCoder().encode($0)[...]) }
        turn {
            $0.receive(
                Batch(
                    loop: LoopID(name: Fuses.name), history: Self.history, session: SessionID(1), settled: 0,
                    applied: 0, first: 1, entries: entries), by: .unknown)
        }
        while machine.hasDeferred { turn { _ in } }
    }

    /// The first records of a journal, and these events.
    static func journal(_ events: [Fuses.Event]) throws -> [Record] {
        var machine = ReducerMachine(
            definition: Fuses(), configuration: ReducerConfiguration(), coder: CBORCoder(), history: history, seed: 1,
            nonce: 1, at: now)
        return machine.turn(at: now).records
            + (try events.enumerated().map { number, event in
                .event(
                    EventRecord(
                        seq: Seq(UInt64(number + 1)), time: now.wall, session: .none, number: 0, effect: nil,
                        attempt: .none, wantsSeq: false, bytes: try CBORCoder().encode(event)[...]))
            })
    }

    /// A start on such a journal.
    static func replay(_ events: [Fuses.Event], note: CrashNote) throws {
        let records = try Self.journal(events)
        var journal = try MemoryRecords { history }.open()
        _ = try journal.append(records, through: UInt64(records.count))
        _ = try Recovery(Fuses(), from: journal, coder: CBORCoder(), note: note)
    }

    private mutating func turn(_ take: (inout ReducerMachine) -> Void) {
        let ready = machine.turn(at: Self.now, take)
        records += ready.records
        let position = ready.position
        _ = machine.release(ready, JournalReceipt(through: position))
    }
}

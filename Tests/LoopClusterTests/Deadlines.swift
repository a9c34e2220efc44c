import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

/// The loop of the timers' tests: names that are due at times, and a list of those that were.
struct Deadlines: LoopDefinition {
    static let name = "deadlines"
    static let schema = 1
    /// Called while the event of a timer is reduced: where another loop would trap.
    var onMine: @Sendable () -> Void = {}
    /// Whether the names are due a second later: another definition.
    var isLater = false
    var hasTimers = true

    struct State: Codable, Equatable, Sendable {
        var due: [String: WallTime] = [:]
        /// What has expired, with the time of its transition in milliseconds.
        var expired: [String] = []
        var isOver = false
    }

    enum Event: Codable, Equatable, Sendable {
        case set(String, at: Int64)
        case clear(String)
        case expired(String)
        case finish
    }

    var initial: State { State() }

    func reduce(into state: inout State, _ event: Event, _ transition: Transition) {
        switch event {
        case .set(let name, let time): state.due[name] = WallTime(milliseconds: time)
        case .clear(let name): state.due[name] = nil
        case .finish: state.isOver = true
        case .expired(let name):
            if name == "mine" { onMine() }
            state.expired.append("\(name)@\(transition.time.milliseconds)")
            // Those with a capital letter stay.
            if name.first?.isLowercase == true { state.due[name] = nil }
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        if !hasTimers { return [] }
        let delay: Duration = isLater ? .seconds(1) : .zero
        return [
            .timer("deadline", at: { state in state.due.mapValues { $0 + delay } }, event: { .expired($0) })
        ]
    }

    func outcome(of state: State) -> Outcome? { state.isOver ? Outcome(text: "done") : nil }
}

/// A reducer machine with deadlines and one client.
struct DeadlineBench {
    var machine: ReducerMachine
    var records: [Record] = []
    var news: [ReducerNews] = []
    var traced: [TracedEvent] = []
    /// The place of the next events in a trace.
    var trace: TraceContext?
    /// Both clocks in milliseconds.
    var time: Int64
    /// How far the civil clock was set.
    var wallOffset: Int64 = 0
    /// What the newest turn asked to be woken at, on the steady clock in milliseconds.
    var deadline: Int64 = 0
    private var sent: UInt64 = 0
    private var replayed: JournaledState
    private let coder = CBORCoder()
    private static let history = History(0x1234)

    init(
        _ definition: Deadlines = Deadlines(), replaying records: [Record] = [], at time: Int64 = 10_000,
        note: CrashNote? = nil, breaking rules: [Rule] = [], reinterprets: Reinterpretation = .never,
        acceptsClock: Bool = false
    ) throws {
        self.time = time
        self.records = records
        var journal = try MemoryRecords { Self.history }.open()
        var configuration = ReducerConfiguration()
        configuration.acceptsClock = acceptsClock
        _ = try journal.append(records, through: UInt64(records.count))
        let recovery = try Recovery(
            definition, from: journal, coder: coder, reinterprets: reinterprets, note: note,
            breaking: BrokenRules(rules))
        replayed = JournaledState(definition: definition, coder: coder, history: Self.history)
        replayed.reinterprets = reinterprets
        for record in records { try replayed.apply(record) }
        machine = ReducerMachine(
            recovery, configuration: configuration, seed: 1, nonce: UInt64(7 + records.count),
            at: Moment(monotonic: .zero + .milliseconds(time), wall: WallTime(milliseconds: time)))
    }

    private var moment: Moment {
        Moment(monotonic: .zero + .milliseconds(time), wall: WallTime(milliseconds: time + wallOffset))
    }

    /// One turn, whose records are compared with a replay of them.
    @discardableResult
    mutating func turn(
        after milliseconds: Int64 = 0, _ take: (inout ReducerMachine) -> Void = { _ in }
    ) throws -> [Outbound] {
        time += milliseconds
        let ready = machine.turn(at: moment, take)
        records += ready.records
        deadline = Int64((ready.deadline - .zero).wholeMilliseconds)
        for record in ready.records { try replayed.apply(record) }
        let position = ready.position
        #expect(replayed.position == position && replayed.digest() == machine.journaled.digest())
        let released = machine.release(ready, JournalReceipt(through: position))
        news += released.news
        traced += released.traced
        return released.messages
    }

    /// A turn that may not be the last of its process: nothing of it is kept.
    mutating func lastTurn(after milliseconds: Int64 = 0) {
        time += milliseconds
        _ = machine.turn(at: moment)
    }

    /// A client sends events; it joins with the first.
    mutating func send(_ events: Deadlines.Event..., after milliseconds: Int64 = 0) throws {
        time += milliseconds
        try send(events)
    }

    mutating func send(_ events: [Deadlines.Event]) throws {
        var session = machine.journaled.sessionByPeer[client] ?? .none
        if sent == 0 {
            let join = JoinRequest(
                peer: client, session: .none, history: .none, epoch: .none, watermark: 0, schema: 1,
                fingerprint: DefinitionFingerprint(of: Deadlines()).value, capacity: 0, groups: [], name: "client")
            try turn { $0.receive(.join(join), from: ReducerBench.route(client), by: .unknown) }
            session = machine.journaled.sessionByPeer[client] ?? .none
            let claim = ToReducer.claim(session, machine.epoch, ClaimPart([]))
            try turn { $0.receive(claim, from: ReducerBench.route(client), by: .unknown) }
            sent = machine.journaled.sessions[session]?.watermark ?? 0
        }
        let entries = try events.map { Entry(kind: .event, payload: try coder.encode($0)[...], trace: trace) }
        let batch = Batch(
            loop: LoopID(name: Deadlines.name), history: machine.history, session: session, settled: 0,
            applied: 1 << 20, first: sent + 1, entries: entries)
        sent += UInt64(events.count)
        try turn { $0.receive(batch, by: .unknown) }
    }

    /// What timers have journaled after a number of records.
    func fired(after count: Int = 0) -> [Record] {
        records[count...].filter { if case .event(let event) = $0 { event.isOfTimer } else { false } }
    }

    func record(of feedback: UInt32 = 0, _ seq: UInt64, _ index: UInt32, _ event: Deadlines.Event, seq at: UInt64)
        throws -> Record
    {
        .event(
            EventRecord(
                timer: EffectID(feedback: feedback, seq: Seq(seq), index: index), seq: Seq(at),
                time: WallTime(milliseconds: time), bytes: try coder.encode(event)[...]))
    }

    var expired: [String] { machine.journaled.state(of: Deadlines()).expired }

    mutating func ask(_ request: AdministrationRequest) throws -> AdministrationAnswer? {
        let document = try coder.encode(request)
        var out = try turn {
            $0.receive(.administration(request: 1, document[...]), from: ReducerBench.route(client), by: .unknown)
        }
        while machine.hasDeferred { out += try turn() }
        return out.answer(1)
    }
}

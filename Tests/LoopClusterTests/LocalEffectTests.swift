import LoopCluster
import LoopCore
import LoopWire
import Testing

/// A loop whose effects run in the reducer's own process.
private struct Chores: LoopDefinition {
    static let name = "chores"
    struct State: Codable, Equatable, Sendable { var dishes: Set<Int> = [] }
    enum Event: Codable, Sendable {
        case dirty(Int)
        case clean(Int)
    }

    let initial = State()

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .dirty(let dish): state.dishes.insert(dish)
        case .clean(let dish): state.dishes.remove(dish)
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        [.react("wash", requests: \.dishes) { (dish: Int) in .events(.clean(dish)) }]
    }
}

/// A reducer machine with the peer of its own process, as a node joins them.
private struct ChoresProcess {
    var machine: ReducerMachine
    var peer: PeerMachine
    var records: [Record]
    var started: [Grant] = []
    var told: [EntryOutcome] = []
    var time: Int64

    init(replaying records: [Record] = [], at time: Int64) throws {
        self.records = records
        self.time = time
        let moment = ReducerBench.moment(time)
        var state = JournaledState(definition: Chores(), coder: CBORCoder(), history: History(7))
        for record in records { try state.apply(record) }
        machine = ReducerMachine(
            recovered: state, configuration: ReducerConfiguration(), seed: 1, nonce: UInt64(time), at: moment)
        let configuration = PeerConfiguration(
            peer: .local, loop: Chores.name, schema: 1, fingerprint: machine.fingerprintValue, groups: [localGroup],
            capacity: 8)
        peer =
            machine.localStream.map { PeerMachine(configuration: configuration, continuing: $0, at: moment.monotonic) }
            ?? PeerMachine(configuration: configuration, at: moment.monotonic)
    }

    mutating func turn(after milliseconds: Int64 = 0) {
        time += milliseconds
        let now = ReducerBench.moment(time).monotonic
        peer.advance(to: now)
        var said: [ToReducer] = []
        for action in peer.takeActions() {
            switch action {
            case .send(let message): said.append(message)
            case .run(let grant): started.append(grant)
            case .settled(_, let outcome, _): told.append(outcome)
            default: break
            }
        }
        var batches: [Batch] = []
        while let batch = peer.nextBatch() { batches.append(batch) }
        turn { intake in
            for message in said { intake.receive(message, from: .local, by: .local) }
            for batch in batches { intake.receive(batch, by: .local) }
        }
    }

    private mutating func turn(_ take: (inout ReducerMachine) -> Void) {
        let now = ReducerBench.moment(time)
        let ready = machine.turn(at: now, take)
        records += ready.records
        let position = ready.position
        for message in machine.release(ready, JournalReceipt(through: position)).messages {
            switch message {
            case .inbox(.local, let frame): peer.receivePublished(frame, at: now.monotonic)
            case .reply(.local, let frame): peer.receiveReply(frame, at: now.monotonic)
            default: break
            }
        }
    }

    /// Another process sends an event.
    mutating func dirty(_ dish: Int, as session: SessionID, _ number: UInt64) throws {
        let entry = Entry(kind: .event, payload: try CBORCoder().encode(Chores.Event.dirty(dish))[...])
        let batch = Batch(
            loop: LoopID(name: Chores.name), history: machine.history, session: session, settled: 0, applied: 0,
            first: number, entries: [entry])
        turn { $0.receive(batch, by: .local) }
    }

    mutating func join(_ id: PeerID) -> SessionID {
        let joinRequest = JoinRequest(
            peer: id, session: .none, history: .none, epoch: .none, watermark: 0, schema: 1,
            fingerprint: machine.fingerprintValue, capacity: 0, groups: [], name: "")
        turn { $0.receive(.join(joinRequest), from: ReducerBench.route(id), by: .unknown) }
        let (session, epoch) = (machine.journaled.sessionByPeer[id] ?? .none, machine.epoch)
        turn { $0.receive(.claim(session, epoch, []), from: ReducerBench.route(id), by: .unknown) }
        return session
    }

    /// Ends what was started last with its event.
    mutating func clean(_ grant: Grant, _ dish: Int) throws {
        let event = try CBORCoder().encode(Chores.Event.clean(dish))
        let result = peer.send(event[...], of: (grant.effect, grant.attempt), wantsSeq: true, isLast: true)
        guard case .accepted = result else {
            Issue.record("the event of \(grant) is not accepted: \(result)")
            return
        }
    }
}

@Suite struct `Effects of the reducer's own process` {
    @Test func `run again as soon as it is restarted, while other workers are awaited`() throws {
        var first = try ChoresProcess(at: 10_000)
        for _ in 0..<4 { first.turn() }
        // A sender that never comes back.
        let sender = first.join(client)
        try first.dirty(1, as: sender, 1)
        for _ in 0..<4 { first.turn() }
        #expect(first.started.map(\.attempt) == [Attempt(epoch: 1, count: 1)])
        var second = try ChoresProcess(replaying: first.records, at: 20_000)
        for _ in 0..<4 { second.turn() }
        #expect(second.started.map(\.attempt) == [Attempt(epoch: 2, count: 1)])
        #expect(second.started.map(\.effect) == first.started.map(\.effect))
        // What the process before would commit is void.
        let floor = try #require(second.machine.journaled.effects[first.started[0].effect]?.floor)
        #expect(floor == Attempt(epoch: 2, count: 0))
    }

    @Test func `have one session, however often it is restarted, and its numbers go on`() throws {
        var process = try ChoresProcess(at: 10_000)
        let sender = process.join(client)
        var told = 0
        for life in 1...5 {
            if life > 1 { process = try ChoresProcess(replaying: process.records, at: 10_000 + Int64(life) * 1000) }
            for _ in 0..<4 { process.turn() }
            if life > 1 { _ = process.join(client) }
            try process.dirty(life, as: sender, UInt64(life))
            for _ in 0..<4 { process.turn() }
            let grant = try #require(process.started.last)
            try process.clean(grant, life)
            for _ in 0..<4 { process.turn() }
            told += process.told.count
            #expect(process.machine.journaled.state(of: Chores()).dishes == [])
        }
        #expect(told == 5)
        #expect(process.machine.journaled.sessions.count == 2)
        #expect(process.machine.localStream?.settled == 5)
    }
}

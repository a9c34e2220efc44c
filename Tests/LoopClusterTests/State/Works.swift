import LoopCluster
import LoopCompatibility
import LoopCore
import LoopWire

/// A loop whose feedbacks are chosen by a test: one build of it after the other.
struct Works: LoopDefinition {
    static let name = "works"

    struct State: Codable, Equatable, Sendable {
        var jobs: [String: Int] = [:]
        var alarm: Int?
    }

    enum Event: Codable, Equatable, Sendable {
        case job(String, Int?)
        case alarm(Int?)
    }

    var initial = State()
    var feedbacks: [Feedback<State, Event>]

    init(_ feedbacks: Feedback<State, Event>...) { self.feedbacks = feedbacks }

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .job(let name, let effort): state.jobs[name] = effort
        case .alarm(let alarm): state.alarm = alarm
        }
    }

    func beginning(with state: State) -> Works {
        var copy = self
        copy.initial = state
        return copy
    }

    typealias Form = Feedback<State, Event>

    static let jobs = Form.react("jobs", requests: \.jobs) { (_: Int) in .none }.on(.workers)
    static let alarm = Form.lensing("alarm", state: { $0.alarm }, effects: { (_: Int) in .none })
    static let lamp = Form.whenBecomesTrue("lamp", state: { $0.alarm != nil }, effect: { _ in .none })
    /// The jobs of another build, which asks for ten times as much.
    static let harderJobs = Form.react(
        "jobs", requests: { $0.jobs.mapValues { $0 * 10 } }, effect: { (_: Int) in .none }
    ).on(.workers)
}

/// One journal and the builds that go on with it.
struct Site {
    var core: JournaledState
    var records: [Record] = []

    init(_ build: Works) throws {
        core = JournaledState(definition: build, coder: CBORCoder(), history: History(3))
        try begin()
    }

    /// Another build goes on from a snapshot of the one before, or from records.
    mutating func continueWith(_ build: Works) throws -> [LiveChange] {
        core = try JournaledState(restoring: try core.snapshot(), definition: build, coder: CBORCoder())
        return try begin()
    }

    @discardableResult
    mutating func begin() throws -> [LiveChange] {
        let changes = try write(.definition(core.ownDefinition))
        try write(.epochBegun(Epoch(number: core.epoch.number + 1, nonce: 5), WallTime(milliseconds: 1)))
        return changes
    }

    @discardableResult
    mutating func write(_ record: Record) throws -> [LiveChange] {
        records.append(record)
        return try core.apply(record)
    }

    @discardableResult
    mutating func happen(_ event: Works.Event) throws -> [LiveChange] {
        try write(
            .event(
                EventRecord(
                    seq: core.seq.next, time: core.time, session: SessionID(1), number: core.seq.value + 1, effect: nil,
                    attempt: .none, wantsSeq: false, bytes: try CBORCoder().encode(event)[...])))
    }

    mutating func happenAndSnapshot(_ event: Works.Event) throws -> [UInt8] {
        try happen(event)
        return try core.snapshot()
    }

    func request(of effect: EffectID) throws -> Int? {
        try core.effects[effect].map { try CBORCoder().decode(Int.self, from: $0.request) }
    }
}

/// What an error tells people; "" where there was none.
func message<Result>(_ body: () throws -> Result) -> String {
    do {
        _ = try body()
        return ""
    } catch {
        return "\(error)"
    }
}

import CBOR
import LoopCluster
import LoopCore
import LoopWire

/// The loop of these tests: books in a tracked dictionary, and who has visited.
struct Library: LoopDefinition {
    static let name = "library"
    struct State: Codable, Equatable, Sendable {
        var books = TrackedDictionary<String, Int>()
        var visits = 0
        var luck: UInt64 = 0
    }

    enum Event: Codable, Equatable, Sendable {
        case shelve(String, Int)
        case lend(String)
        case visit
    }

    let initial = State()

    func reduce(into state: inout State, _ event: Event, _ transition: Transition) {
        switch event {
        case .shelve(let title, let count): state.books[title] = count
        case .lend(let title): state.books[title] = nil
        case .visit: state.visits += 1
        }
        var random = transition.random
        if event == .visit { state.luck = random.next() }
    }

    var feedbacks: [Feedback<State, Event>] { [] }

    var sections: [StateSection<State>] {
        [StateSection("books", \.books), StateSection("visits", \.visits)]
    }
}

/// A reducer's machine whose followers are what matters: one session sends, and what is published is looked at.
struct LibraryBench {
    var machine: ReducerMachine
    var subscriptions = Subscriptions()
    /// What turns have asked other threads to do.
    private var backgroundJobs: [BackgroundJob] = []
    private var session = SessionID.none
    private var number: UInt64 = 0
    /// Milliseconds on both clocks.
    var time: Int64 = 10_000
    static let loop = LoopID(name: Library.name)
    static let history = History(0x1234)
    private let peer = PeerID(high: 0, low: 9)

    init(following streams: [UpdateStream] = [], _ configure: (inout ReducerConfiguration) -> Void = { _ in }) {
        var configuration = ReducerConfiguration()
        configure(&configuration)
        machine = ReducerMachine(
            definition: Library(), configuration: configuration, coder: CBORCoder(), history: Self.history, seed: 1,
            nonce: 7, at: Self.moment(time))
        subscriptions.streams = streams
        let joinRequest = JoinRequest(
            peer: peer, session: .none, history: .none, epoch: .none, watermark: 0, schema: 1, fingerprint: 0,
            capacity: 0, groups: [], name: "")
        _ = turn { $0.receive(.join(joinRequest), from: .router([1]), by: .unknown) }
        session = SessionID(1)
        _ = turn { $0.receive(.claim(SessionID(1), $0.epoch, []), from: .router([1]), by: .unknown) }
    }

    static func moment(_ time: Int64) -> Moment {
        Moment(monotonic: .zero + .milliseconds(time), wall: WallTime(milliseconds: time))
    }

    var state: Library.State { machine.journaled.state(of: Library()) }

    /// One turn.
    mutating func turn(
        after milliseconds: Int64 = 0, _ take: (inout ReducerMachine) -> Void = { _ in }
    ) -> [Outbound] {
        time += milliseconds
        let ready = machine.turn(at: Self.moment(time)) { intake in
            intake.follow(subscriptions)
            take(&intake)
        }
        let position = ready.position
        let released = machine.release(ready, JournalReceipt(through: position))
        backgroundJobs += released.backgroundJobs
        return released.messages
    }

    mutating func takeBackgroundJobs() -> [BackgroundJob] {
        defer { backgroundJobs = [] }
        return backgroundJobs
    }

    /// Events that come in one turn.
    mutating func send(_ events: Library.Event..., after milliseconds: Int64 = 200) throws -> [Outbound] {
        let entries = try events.map { Entry(kind: .event, payload: try CBOR.encode($0)[...]) }
        let batch = Batch(
            loop: Self.loop, history: machine.history, session: session, settled: number, applied: 1 << 20,
            first: number + 1, entries: entries)
        number += UInt64(events.count)
        return turn(after: milliseconds) { $0.receive(batch, by: .unknown) }
    }

    mutating func ask(_ message: ToReducer) -> [ToPeer] {
        turn { $0.receive(message, from: .router([5]), by: .unknown) }.compactMap {
            if case .reply(.router([5]), let frame) = $0 { frame.message } else { nil }
        }
    }
}

extension [Outbound] {
    /// What is published on a stream of updates, in order.
    func published(on stream: UpdateStream) -> [ToPeer] { published(on: .updates(LibraryBench.loop, stream)) }

    func published(on topic: Topic) -> [ToPeer] {
        compactMap { if case .publish(topic, let frame) = $0 { frame.message } else { nil } }
    }

    /// The deltas that are published on a stream, but for the hashes in them.
    func deltas(on stream: UpdateStream) -> [StateDelta] {
        published(on: stream).compactMap { if case .delta(let delta) = $0 { delta } else { nil } }
    }
}

import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

/// A reducer machine on a bench: hands in what arrives, and takes what each turn journals and sends.
struct ReducerBench {
    var machine: ReducerMachine
    var records: [Record] = []
    /// What the newest turn said of records that are missing.
    var lost: HistoryLost?
    /// The listeners other than workers.
    var subscriptions = Subscriptions()
    /// What turns have released besides messages.
    var backgroundJobs: [BackgroundJob] = []
    var journalRequests: [JournalRequest] = []
    var news: [ReducerNews] = []
    var traced: [TracedEvent] = []
    /// Milliseconds on both clocks.
    var time: Int64 = 10_000
    static let history = History(0x1234)
    let coder = CBORCoder()
    /// What a replay of the records so far gives; compared with the machine after every turn.
    private var replayed: JournaledState

    init(
        policy: EffectPolicy = EffectPolicy(), configuration: ReducerConfiguration = ReducerConfiguration(),
        setting: ReducerSetting = ReducerSetting(), history: History = ReducerBench.history,
        replaying records: [Record] = [], at time: Int64 = 10_000,
        breaking rules: [Rule] = [], note: CrashNote? = nil, hasFailing: Bool = false,
        onMine: @escaping @Sendable () -> Void = {}
    ) throws {
        self.time = time
        var journal = try MemoryRecords { history }.open()
        _ = try journal.append(records, through: UInt64(records.count))
        let recovery = try Recovery(
            Lamps(policy: policy, onMine: onMine, hasFailing: hasFailing), from: journal, coder: CBORCoder(),
            note: note,
            breaking: BrokenRules(rules))
        machine = ReducerMachine(
            recovery, configuration: configuration, setting: setting, seed: 1, nonce: UInt64(7 + records.count),
            at: ReducerBench.moment(time))
        replayed = JournaledState(definition: Lamps(policy: policy), coder: CBORCoder(), history: history)
        for record in records { try replayed.apply(record) }
        self.records = records
    }

    var state: Lamps.State { machine.journaled.state(of: Lamps()) }

    static func moment(_ time: Int64) -> Moment {
        Moment(monotonic: .zero + .milliseconds(time), wall: WallTime(milliseconds: time))
    }

    /// One turn: everything that arrived, then time, then what leaves.
    @discardableResult
    mutating func turn(
        after milliseconds: Int64 = 0, _ take: (inout ReducerMachine) -> Void = { _ in }
    ) -> [Outbound] {
        time += milliseconds
        let ready = machine.turn(at: ReducerBench.moment(time)) { intake in
            intake.follow(subscriptions)
            take(&intake)
        }
        records += ready.records
        lost = ready.historyLost
        for record in ready.records { replay(record) }
        let position = ready.position
        #expect(replayed.position == position && replayed.digest() == machine.journaled.digest())
        let released = machine.release(ready, JournalReceipt(through: position))
        backgroundJobs += released.backgroundJobs
        journalRequests += released.journalRequests
        news += released.news
        traced += released.traced
        return released.messages
    }

    mutating func takeBackgroundJobs() -> [BackgroundJob] {
        defer { backgroundJobs = [] }
        return backgroundJobs
    }

    /// Every conversation's records give the machine's state again. (G8.)
    private mutating func replay(_ record: Record) {
        do {
            try replayed.apply(record)
        } catch {
            Issue.record("\(record) cannot be replayed: \(error)")
        }
    }

    mutating func say(
        _ message: ToReducer, from peer: PeerID, by principal: Principal = .unknown, after milliseconds: Int64 = 0
    ) -> [Outbound] {
        turn(after: milliseconds) { $0.receive(message, from: ReducerBench.route(peer), by: principal) }
    }

    mutating func push(_ batch: Batch, by principal: Principal = .unknown) -> [Outbound] {
        turn { $0.receive(batch, by: principal) }
    }

    static func route(_ peer: PeerID) -> Route { .router([UInt8(peer.low)]) }

    static func joinRequest(_ peer: PeerID, capacity: UInt32 = 4) -> JoinRequest {
        JoinRequest(
            peer: peer, session: .none, history: .none, epoch: .none, watermark: 0, schema: 2,
            fingerprint: DefinitionFingerprint(of: Lamps()).value, capacity: capacity,
            groups: capacity > 0 ? ["default"] : [], name: "peer \(peer.low)",
            feedbacks: DefinitionFingerprint(of: Lamps()).feedbacks)
    }

    /// A peer goes all the way in.
    @discardableResult
    mutating func join(_ peer: PeerID, capacity: UInt32 = 4, claiming claims: [ClaimedAttempt] = []) -> SessionID {
        let session = requestJoin(peer, capacity: capacity)
        _ = say(.claim(session, machine.epoch, ClaimPart(claims)), from: peer)
        return session
    }

    /// A peer is admitted; it is given nothing before it has claimed.
    mutating func requestJoin(_ peer: PeerID, capacity: UInt32 = 4) -> SessionID {
        let acceptance = say(.join(ReducerBench.joinRequest(peer, capacity: capacity)), from: peer)
        return acceptance.compactMap { outbound -> SessionID? in
            guard case .inbox(peer, let frame) = outbound, case .joinAccepted = frame.message else { return nil }
            return frame.session
        }.first ?? .none
    }

    func event(
        _ event: Lamps.Event, of effect: (EffectID, Attempt)? = nil, wantsSeq: Bool = false, wantsAnswer: Bool = false
    ) throws -> Entry {
        Entry(
            kind: .event, effect: effect?.0, attempt: effect?.1 ?? .none, payload: try coder.encode(event)[...],
            wantsSeq: wantsSeq, wantsAnswer: wantsAnswer)
    }

    func batch(_ session: SessionID, from first: UInt64, _ entries: [Entry]) -> Batch {
        Batch(
            loop: LoopID(name: Lamps.name), history: machine.history, session: session, settled: 0, applied: 1 << 20,
            first: first, entries: entries)
    }

    /// A client sends events.
    mutating func send(_ session: SessionID, from first: UInt64, _ events: Lamps.Event...) throws -> [Outbound] {
        try push(batch(session, from: first, events.map { try event($0) }))
    }

    func heartbeat(_ session: SessionID, capacity: UInt32 = 4) -> ToReducer {
        .heartbeat(
            Heartbeat(
                session: session, epoch: machine.epoch, echo: UInt64(time) * 1_000_000, applied: 1 << 20, settled: 0,
                capacity: capacity))
    }
}

let alice = PeerID(high: 0, low: 1)
let bob = PeerID(high: 0, low: 2)
let client = PeerID(high: 0, low: 9)

extension [Outbound] {
    /// What goes to one peer, over either way, but for ticks.
    func messages(to peer: PeerID) -> [ToPeer] {
        compactMap { outbound in
            let frame: PeerFrame
            switch outbound {
            case .inbox(peer, let inbox): frame = inbox
            case .reply(ReducerBench.route(peer), let reply): frame = reply
            default: return nil
            }
            if case .tick = frame.message { return nil }
            return frame.message
        }
    }

    /// The grants in it, for any worker.
    var grants: [Grant] {
        flatMap { outbound -> [Grant] in
            guard case .inbox(_, let frame) = outbound, case .commands(_, let commands) = frame.message else {
                return []
            }
            return commands.compactMap { if case .start(let grant) = $0 { grant } else { nil } }
        }
    }

    func isGranted(to peer: PeerID) -> Bool {
        contains {
            if case .inbox(peer, let frame) = $0, case .commands(_, let commands) = frame.message {
                commands.contains { if case .start = $0 { true } else { false } }
            } else {
                false
            }
        }
    }
}

func acknowledged(_ base: UInt64, _ watermark: UInt64, _ notable: NotableOutcome...) -> ToPeer {
    .acknowledgement(Acknowledgement(base: base, watermark: watermark, notable: notable))
}

/// Why an event of the single byte 0xff is refused.
let whatIsWrong = "malformed bytes at offset 0: a break where nothing can end"

/// What is told of refused events besides the reason.
func details(of numbers: UInt64..., because text: String = whatIsWrong) -> ToPeer {
    .refusalDetails(numbers.map { RefusalDetail(number: $0, text: text) })
}

func refused(_ number: UInt64, _ reason: SendRefusal.Reason) -> NotableOutcome {
    NotableOutcome(number: number, outcome: .refused(reason))
}

extension RecoveryError {
    var difference: ReplayDifference? { if case .differs(let difference) = self { difference } else { nil } }
}

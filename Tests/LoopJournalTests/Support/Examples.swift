import LoopCluster
import LoopCore
import LoopJournal
import LoopKeys
import LoopWire

/// Records to write down.
enum Examples {
    /// The bytes from 1 to 32.
    static let owner: PublicKey = {
        guard let key = PublicKey(bytes: Array(1...32)) else { preconditionFailure("no key") }
        return key
    }()
    static let effect = EffectID(feedback: 3, seq: Seq(700), index: 2)
    static let attempt = Attempt(epoch: 2, count: 1000)
    static let time = WallTime(milliseconds: 1_764_000_000_123)
    static let history = History(0x1122_3344_5566_7788)

    /// Every kind, and every field that may be absent or may differ in form.
    static let records: [Record] = [
        .event(event(1)),
        .event(
            EventRecord(
                seq: Seq(300), time: time, session: SessionID(9), number: 70_000, effect: effect, attempt: attempt,
                wantsSeq: true, bytes: [0xa1, 0x61, 0x78, 0x01])),
        .event(
            EventRecord(
                seq: Seq(.max), time: WallTime(milliseconds: -1), session: SessionID(.max), number: .max, effect: nil,
                attempt: attempt, wantsSeq: true, bytes: [])),
        .event(
            EventRecord(
                seq: Seq(301), time: time, session: SessionID(9), number: 70_001, effect: nil, attempt: .none,
                wantsSeq: true, wantsAnswer: true, bytes: [0x01])),
        // What a feedback makes of an attempt that has taken too long.
        .event(
            EventRecord(
                seq: Seq(302), time: time, session: .none, number: 0, effect: effect, attempt: attempt, wantsSeq: false,
                isLast: true, bytes: [0x01])),
        .refused(
            RefusalRecord(session: SessionID(4), number: 12, reason: .stale, effect: effect, attempt: attempt)),
        .refused(
            RefusalRecord(session: SessionID(4), number: 13, reason: .quarantined, effect: nil, attempt: .none)),
        .refused(
            RefusalRecord(
                session: SessionID(4), number: 14, reason: .undecodable, effect: nil, attempt: .none,
                detail: "at größe: expected text, found 3")),
        .completed(SessionID(4), number: 200, effect, attempt),
        .skipped(SessionID(5), number: 128),
        .attemptEnded(
            AttemptEnd(
                effect: effect, upTo: attempt, cause: .failed, next: .retry(RetryTime(notBefore: time, wait: 3000)),
                message: "the host is away: ü",
                entry: EntryNumber(session: SessionID(4), number: 14))),
        .attemptEnded(AttemptEnd(effect: effect, upTo: attempt, cause: .unresponsive, next: .parked)),
        .granted(GrantRecord(first: attempt, effects: [effect])),
        .granted(
            GrantRecord(
                first: Attempt(epoch: .max, count: 1),
                effects: [effect, EffectID(feedback: .max, seq: Seq(.max), index: .max)])),
        .sessionOpened(SessionID(6), PeerID(high: 0x0102_0304_0506_0708, low: 0x090a_0b0c_0d0e_0f10)),
        .sessionRetired(SessionID(6)),
        .epochBegun(Epoch(number: 3, nonce: 0xffee_ddcc_bbaa_9988), time),
        .definition(
            DefinitionRecord(
                fingerprint: 0x0123_4567_89ab_cdef, schema: 2, initial: 0xfedc_ba98_7654_3210,
                initialState: [0xa0, 1, 2], feedbacks: ["fetch", "", "größe"])),
        .definition(DefinitionRecord(fingerprint: 1, schema: 0, initial: 2, feedbacks: [])),
        .stateHash(Seq(1000), 0xdead_beef_0000_0001),
        .quarantined(
            QuarantineRecord(
                id: 1, time: time, session: SessionID(4), number: 15, effect: effect, attempt: attempt,
                phase: .reducing, crashes: 2, bytes: [1, 2, 3])),
        .operatorAction(OperatorAction(.retryParked(effect), by: "ada@host", at: time)),
        .operatorAction(OperatorAction(.retryQuarantined(1), by: "ada@host", at: time)),
        .operatorAction(OperatorAction(.dropQuarantined(2), by: "", at: time)),
        .historyBegun(history, time),
        .stateMarked(Seq(1000)),
        .markHash(Seq(1000), 0xdead_beef_0000_0001),
        .sessionOwned(SessionID(6), Examples.owner),
        .event(EventRecord(timer: effect, seq: Seq(300), time: time, bytes: [1, 2, 3])),
        .scheduled(ScheduleRecord(schedule: 3, time: time, next: time, plan: 0x0123_4567_89ab_cdef)),
        .event(
            EventRecord(
                ScheduledRun(schedule: 3, due: time, next: time, plan: 7, isByHand: false), seq: Seq(300), time: time,
                bytes: [1, 2, 3])),
        .event(
            EventRecord(
                ScheduledRun(schedule: 3, due: time, next: time, plan: 7, isByHand: true), seq: Seq(300), time: time,
                bytes: [])),
        .operatorAction(OperatorAction(.pauseSchedule(3), by: "ada@host", at: time)),
        .operatorAction(OperatorAction(.resumeSchedule(3), by: "ada@host", at: time)),
        .operatorAction(OperatorAction(.acceptClock, by: "--accept-clock", at: time)),
        .operatorAction(OperatorAction(.runSchedule(3), by: "ada@host", at: time)),
    ]

    static func event(_ seq: UInt64, bytes: Int = 3) -> EventRecord {
        EventRecord(
            seq: Seq(seq), time: WallTime(milliseconds: 1_764_000_000_000 + Int64(seq)), session: SessionID(1),
            number: seq, effect: nil, attempt: .none, wantsSeq: false,
            bytes: (0..<bytes).map { UInt8(truncatingIfNeeded: $0 &+ Int(seq)) }[...])
    }

    static func bytes(_ record: Record) -> [UInt8] {
        var bytes: [UInt8] = []
        record.write(to: &bytes)
        return bytes
    }

    static func open(_ path: String, _ durability: Durability = .fsync) throws -> SQLiteJournal {
        try SQLiteJournal.open(path, loop: "test", durability: durability, newHistory: history)
    }
}

/// Batches of events and other records, numbered as they come.
struct Batches {
    var seq: UInt64 = 0

    mutating func next(events: Int, others: Int = 0, bytes: Int = 3) -> [Record] {
        var batch: [Record] = []
        for _ in 0..<events {
            seq += 1
            batch.append(.event(Examples.event(seq, bytes: bytes)))
        }
        for number in 0..<others { batch.append(.skipped(SessionID(2), number: UInt64(number))) }
        return batch
    }
}

/// Appends batches.
struct Appender {
    var journal: SQLiteJournal
    private var batches = Batches()
    /// Everything that was acknowledged, in order.
    private(set) var records: [Record] = []

    init(_ journal: SQLiteJournal) { self.journal = journal }

    var seq: UInt64 { batches.seq }

    mutating func append(events: Int, others: Int = 0, bytes: Int = 3) throws {
        let batch = batches.next(events: events, others: others, bytes: bytes)
        _ = try journal.append(batch, through: journal.position + UInt64(batch.count))
        records += batch
    }
}

extension Journal {
    /// Everything after a position, page by page.
    func all(after position: UInt64 = 0, bytesMax: Int = 1 << 20) throws -> [Record] {
        var records: [Record] = []
        while true {
            let page = try self.records(after: position + UInt64(records.count), bytesMax: bytesMax)
            if page.isEmpty { return records }
            records += page
        }
    }
}

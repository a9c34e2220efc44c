import CBOR
import LoopCore
import LoopWire

/// One document of every kind, as `Vectors/documents.txt` and `docs/spec/loop.cddl` name them.
enum DocumentExamples {
    static var all: [(name: String, bytes: [UInt8])] {
        get throws {
            try [
                ("status: least", CBOR.encode(StatusReport(loop: "slots", schema: 1))),
                ("status: all", CBOR.encode(status)),
            ]
                + requests.map { ("request: \($0.name)", try CBOR.encode($0.request)) }
                + answers.map { ("answer: \($0.name)", try CBOR.encode($0.answer)) }
        }
    }

    private static var status: StatusReport {
        var report = StatusReport(loop: "slots", schema: 1)
        report.role = StatusReport.standbyRole
        report.leader = "tcp://127.0.0.1:7710"
        report.following = StatusReport.Following(position: 9, lag: 1, lagMilliseconds: 20, coldBecause: "no")
        report.journalLease = StatusReport.JournalLease(milliseconds: 3000, provenMillisecondsAgo: 100)
        report.history = "00000000000000ab"
        (report.epoch, report.seq, report.uptimeMilliseconds, report.eventsPerSecond) = (3, 7, 1000, 0.5)
        (report.isReady, report.notReadyBecause) = (true, "no reason")
        report.journalFault = JournalFault(.noDatabase, sqlState: "57P01", host: "db")
        (report.journalFaultMilliseconds, report.clockBehindMilliseconds) = (1500, 6000)
        report.progress = Progress(done: 1, found: 2, unit: "pages", note: "one broken")
        report.exitCode = -1
        var peer = StatusReport.Peer(
            name: "w", peer: MessageExamples.peer, session: SessionID(1), groups: ["default"], capacity: 4)
        peer.leaseMilliseconds = -5
        report.peers = [peer]
        report.feedbacks = [StatusReport.FeedbackCounts(name: "jobs")]
        report.feedbacks[0].oldestWaitMilliseconds = 9
        report.feedbacks[0].group = "workers"
        report.feedbacks[0].waitReasons = ["no_worker": 2]
        report.parked = [
            StatusReport.Parked(effect: MessageExamples.effect, feedback: "jobs", failures: 3, message: "no")
        ]
        report.effectReports = [
            StatusReport.EffectReport(
                AttemptProgress(
                    effect: MessageExamples.effect, attempt: MessageExamples.attempt,
                    progress: EffectProgress(0.25, "a quarter")), feedback: "jobs", session: SessionID(1))
        ]
        (report.peersLeftOut, report.parkedLeftOut, report.effectReportsLeftOut) = (1, 2, 3)
        (report.timers, report.nextTimer, report.connections, report.connectionsMax) = (1, -1, 2, 3072)
        (report.quarantined, report.warnings, report.counters) = (1, ["look"], ["disconnected": 1])
        return report
    }

    private static let requests: [(name: String, request: AdministrationRequest)] = [
        ("effects", .effects(EffectSelection(feedback: "jobs", state: .waiting, effect: "2.7.1", max: 9))),
        ("all effects", .effects(EffectSelection())), ("retryParked", .retryParked(effect: "2.7.1", who: "eve")),
        ("quarantine", .quarantine),
        ("quarantined", .quarantined(id: 1)), ("retryQuarantined", .retryQuarantined(id: 1, who: "eve")),
        ("dropQuarantined", .dropQuarantined(id: 1, who: "eve")),
        ("history", .history(from: 1, through: 9, after: 3)),
        ("history to the end", .history(from: 1, through: nil, after: nil)), ("state", .state(at: 4)),
        ("state now", .state(at: nil)),
        ("state's part", .state(at: nil, part: StateSelection(section: "jobs", path: ["open", "0"]))),
        ("state's outline", .state(at: 4, outline: OutlineSelection(from: 2, max: 5))),
        ("origin", .origin(of: 7)), ("origin with its step", .origin(of: 7, step: true)),
        (
            "history, filtered",
            .history(
                from: 1, through: nil, after: 3,
                filter: HistoryFilter(
                    kind: "event", event: "paid", session: 3, effect: "2.7.1", text: "o-17", max: 9))
        ),
        ("changes", .changes(of: StateSelection(path: ["open", "0"]), before: 9, max: 5)),
        ("all changes", .changes(of: StateSelection(section: "jobs"), before: nil, max: 10)),
        ("verify", .verify), ("trim", .trim(before: 5)), ("schedules", .schedules),
        ("pauseSchedule", .pauseSchedule(name: "nightly", who: "eve")),
        ("resumeSchedule", .resumeSchedule(name: "nightly", who: "eve")),
        ("runSchedule", .runSchedule(name: "nightly", who: "eve")), ("explain", .explain(event: [0xa0])),
        ("schema", .schema), ("stepDown", .stepDown(takesSnapshot: true, who: "eve")),
        ("standBack", .standBack(milliseconds: 10_000, who: "eve")),
    ]

    private static let answers: [(name: String, answer: AdministrationAnswer)] = [
        ("done", .done("the schedule nightly is paused")), ("refused", .refused("no")),
        ("effects", .effects([listed], others: 3)),
        ("quarantine", .quarantine([quarantined, quarantinedOfClient])),
        (
            "history",
            .history(HistoryPage(records: [HistoryRecord(position: 1, seq: 0, kind: "definition"), record], next: 2))
        ),
        ("history's end", .history(HistoryPage(records: [], next: nil))), ("state", .state(seq: 7, bytes: [0xa0])),
        ("origin", .origin(origin)), ("origin with its step", .origin(originWithStep)),
        ("origin of a timer", .origin(EventOrigin(event: record))),
        ("changes", .changes([PartChange(event: record, value: [0x18, 0x2a])], from: 3)),
        ("no changes", .changes([], from: 3, because: "trimmed")),
        (
            "verified",
            .verified(
                VerifyReport(from: 0, through: 7, records: 9, snapshots: 1, stateHashes: 1, difference: "at seq 7"))
        ),
        (
            "schedules",
            .schedules([
                ListedSchedule(name: "nightly", schedule: "0 3 * * *", isPaused: false, last: 1, next: [2, 3]),
                ListedSchedule(
                    name: "never", schedule: "0 3 * * *", isPaused: true, last: nil, next: [], standsStillUntil: 9),
            ])
        ),
        ("explained", .explained(DecodingExplanation(error: "no", unknownKeys: ["a.b"]))), ("schema", .schema(schema)),
    ]

    private static var origin: EventOrigin {
        var origin = EventOrigin(event: record)
        (origin.peer, origin.key, origin.feedback, origin.cause) = ("62b03fbe", "worker-1", "jobs", record)
        return origin
    }
    private static var originWithStep: EventOrigin {
        var origin = EventOrigin(event: record)
        origin.step = StateStep(
            changes: [StateStep.Change(path: ["open", "0"], old: nil, new: [1])], areChangesCut: false,
            effects: [StateStep.Effect(effect: "2.7.1", feedback: "jobs", kind: .started, request: [1])],
            effectsLeftOut: 0)
        return origin
    }
    private static let listed = ListedEffect(
        effect: "2.7.1", feedback: "jobs", state: .waiting, reason: .noWorker, text: "no", seq: 7, waitMilliseconds: 5,
        failures: 3,
        request: [1])
    private static let quarantined = QuarantinedEvent(
        id: 1, time: 2, session: 3, number: 4, effect: "2.7.1", phase: "reduce", crashes: 2, event: [0xa0])
    private static let quarantinedOfClient = QuarantinedEvent(
        id: 2, time: -2, session: 3, number: 5, effect: nil, phase: "reduce", crashes: 2, event: [])

    private static var record: HistoryRecord {
        var record = HistoryRecord(position: 2, seq: 1, kind: "event")
        (record.time, record.session, record.number, record.effect) = (1, 3, 4, "2.7.1")
        record.retryAt = 10
        (record.attempt, record.note, record.event) = ("3/9", "last", [0xa0])
        return record
    }

    private static let schema = LoopSchema(
        loop: "slots", schema: 1,
        event: .cases(
            name: "Event",
            cases: [TypeShape.Field("put", .array(.value("Int"))), TypeShape.Field("end", .same(name: "E"))],
            isComplete: false),
        eventExamples: [[0xa0]],
        state: .object(
            name: "State",
            fields: [
                TypeShape.Field("slots", .map(key: .value("String"), value: .optional(.value("Int")))),
                TypeShape.Field("kind", .oneOf(name: "Kind", values: ["a", "b"]), isOptional: true),
                TypeShape.Field("open", .tracked(key: .value("Int"), value: .value("Bool"))),
                TypeShape.Field("rest", .unknown(name: "Rest", why: "it reads nothing")),
            ], isComplete: true),
        initialState: [0xa0],
        requests: [
            LoopSchema.Request(feedback: "jobs", placement: "local", shape: nil),
            LoopSchema.Request(feedback: "pages", placement: "workers(default)", shape: .value("Int"), example: [1]),
        ])
}

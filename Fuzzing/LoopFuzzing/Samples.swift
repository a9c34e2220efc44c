import CBOR
import LoopCluster
import LoopCore
import LoopKeys
import LoopWire

/// One of everything that nodes say and journals hold, to begin with.
enum Samples {
    static let peer = PeerID(high: 0x0011_2233_4455_6677, low: 0x8899_aabb_ccdd_eeff)
    static let effect = EffectID(feedback: 0, seq: Seq(7), index: 1)
    static let attempt = Attempt(epoch: 3, count: 9)
    static let epoch = Epoch(number: 3, nonce: 0xdead)
    static let session = SessionID(11)
    static let history = History(0xabcd)
    static let time = WallTime(milliseconds: 1_764_000_000_000)
    static let owner = {
        guard let key = PublicKey(bytes: Array(1...32)) else { preconditionFailure("no key") }
        return key
    }()
    static let failure = Failure(message: "no route", isFinal: true, retryAfter: .seconds(2))
    static let grant = Grant(
        effect: effect, attempt: attempt, version: Seq(8), failures: 2, isResumed: true, request: [1, 2, 3])
    static let trace = TraceContext(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    static var tracedGrant: Grant {
        var grant = grant
        grant.trace = trace
        return grant
    }
    static let introduction = ToPeer.introduction(
        Introduction(
            name: Allotment.name, schema: 2, fingerprint: 0xfeed, publisher: "7711", collector: "7712",
            eventBytesMax: 1024))
    static let welcome = ToPeer.joinAccepted(
        watermark: 5, silenceLimit: .seconds(3), tickInterval: .milliseconds(500), feedbacks: ["beds", "weather"])
    static let commands: CommandRun = [
        .start(grant), .start(tracedGrant), .update(effect, attempt, version: Seq(9), request: [4]),
        .cancel(effect, attempt),
    ]
    static let acknowledgement = Acknowledgement(
        base: 0, watermark: 6,
        notable: [
            NotableOutcome(number: 1, outcome: .applied(Seq(7))),
            NotableOutcome(number: 2, outcome: .refused(.stale)),
        ])
    static let answered = Acknowledgement(
        base: 0, watermark: 2, notable: [NotableOutcome(number: 1, outcome: .applied(Seq(7)))],
        answers: [
            NumberedAnswer(number: 1, answer: .value([0x18, 0x2a])),
            NumberedAnswer(number: 2, answer: .missing(.undefined)),
        ])
    static let notes = [
        TransitionNote(seq: Seq(7), time: time, session: session, effect: effect, event: [0x01]),
        TransitionNote(seq: Seq(9), time: time, session: session, effect: nil, event: [0x02]),
    ]
    static let batch = Batch(
        loop: ReducerRun.loop, history: history, session: session, settled: 5, applied: 4, first: 6,
        entries: [
            Entry(kind: .event, payload: [0x01, 0x02], wantsSeq: true),
            Entry(kind: .event, payload: [0x05], wantsSeq: true, wantsAnswer: true),
            Entry(kind: .event, effect: effect, attempt: attempt, payload: [0x03]),
            Entry(kind: .event, effect: effect, attempt: attempt, payload: [0x04], isLast: true),
            Entry(kind: .event, payload: [0x06], trace: trace),
            Entry(kind: .event, effect: effect, attempt: attempt, payload: [0x07], isLast: true, trace: trace),
            Entry(kind: .completed, effect: effect, attempt: attempt),
            Entry(kind: .failed, effect: effect, attempt: attempt, payload: failure.bytes[...]),
            Entry(kind: .released, effect: effect, attempt: attempt),
        ])

    static func frame(_ message: ToPeer) -> PeerFrame {
        PeerFrame(history: history, epoch: epoch, session: session, message: message)
    }

    static let topics: [(name: String, topic: Topic)] = [
        ("inbox", .inbox(ReducerRun.loop, peer)), ("updates", .updates(ReducerRun.loop, UpdateStream(.full))),
        ("differences", .updates(ReducerRun.loop, UpdateStream(.delta, of: SectionID(name: "beds"), interval: 200))),
        ("transitions", .transitions(ReducerRun.loop)), ("tick", .tick(ReducerRun.loop)),
    ]

    static let toPeer: [(name: String, frame: PeerFrame)] = [
        ("introduction", introduction), ("welcome", welcome), ("commands", .commands(number: 4, commands)),
        ("acknowledgement", .acknowledgement(acknowledgement)),
        ("tick", .tick(Tick(number: 4, watermark: 5, received: 6, stamp: 123_456_789, resend: true))),
        (
            "assignments",
            .assignments(Assignments(number: 4, watermark: 5, part: 0, parts: 2, grants: [grant, tracedGrant]))
        ),
        ("acknowledgement with answers", .acknowledgement(answered)),
        ("outcomes", .outcomes(acknowledgement)), ("busy", .busy(to: .join, retryAfter: .seconds(1), reason: "full")),
        ("goodbye heard", .goodbyeHeard),
        ("refusal details", .refusalDetails([RefusalDetail(number: 2, text: "at beds: expected a map, found 7")])),
        ("redirect", .redirect("tcp://b:7710")),
        ("no leader", .noLeader(retryAfter: .milliseconds(500))),
        ("state part", .statePart(StatePart(transfer: 1, seq: Seq(7), part: 8, end: .chunk, bytes: [1, 2]))),
        ("status", .status([0xa0])), ("ended", .ended(at: Seq(41), exitCode: 1, text: "3 broken links")),
        ("refused", .refused(Refused(.schema, reducer: "2", peer: "1"), to: .join)),
        ("update", .update(Seq(7), state: [0xa0])),
        ("transitions", .transitions(notes)), ("server heartbeat", .serverHeartbeat(Seq(7))),
        ("answer", .answer(AnswerPart(request: 9, part: 0, parts: 1, bytes: [0xa0]))),
        ("delta", .delta(StateDelta(base: Seq(5)...Seq(7), seq: Seq(9), hash: 0xbeef, bytes: [0xa0]))),
        ("unchanged", .unchanged(Seq(7)...Seq(9))), ("state hash", .stateHash(Seq(7), 0xbeef)),
    ].map { ($0.0, frame($0.1)) }

    static let toReducer: [(name: String, message: ToReducer)] = [
        ("hello", .hello(name: Allotment.name, schema: 2)),
        (
            "greet",
            .join(
                JoinRequest(
                    peer: peer, session: session, history: history, epoch: epoch, watermark: 5, schema: 2,
                    fingerprint: 0xfeed, capacity: 8, groups: ["default", "gpu"], name: "wörker 1",
                    feedbacks: ["beds@workers(default)"]))
        ),
        ("claim", .claim(session, epoch, [ClaimedAttempt(effect: effect, attempt: attempt)])),
        (
            "heartbeat",
            .heartbeat(Heartbeat(session: session, epoch: epoch, echo: 123, applied: 4, settled: 5, capacity: 8))
        ),
        ("assignments request", .assignmentsRequest(session, epoch)),
        ("outcomes request", .outcomesRequest(session, after: 5)),
        ("state request", .stateRequest(transfer: 1, part: 8)), ("goodbye", .goodbye(session, peer, history)),
        ("section request", .stateRequest(transfer: 1, part: 8, form: .chunks, section: "beds", deltas: 0)),
        (
            "progress",
            .progress(
                session, epoch,
                [AttemptProgress(effect: effect, attempt: attempt, progress: EffectProgress(0.4, "page 12"))])
        ),
        ("status request", .statusRequest), ("administration", .administration(request: 9, [0xa0])),
    ]

    static let requests: [(name: String, request: AdministrationRequest)] = [
        ("effects", .effects(EffectSelection(feedback: "beds", state: .parked, effect: "0.0.0", max: 5))),
        ("retry parked", .retryParked(effect: "0.0.0", who: "ada@host")),
        ("quarantine", .quarantine), ("quarantined", .quarantined(id: 1)),
        ("retry quarantined", .retryQuarantined(id: 1, who: "ada@host")),
        ("drop quarantined", .dropQuarantined(id: 1, who: "ada@host")),
        ("history", .history(from: 1, through: 9, after: nil)), ("state", .state(at: 3)), ("verify", .verify),
        ("origin", .origin(of: 3, step: true)),
        ("state's outline", .state(at: nil, outline: OutlineSelection(from: 0, max: 9))),
        (
            "filtered",
            .history(from: 0, through: nil, after: 9, filter: HistoryFilter(event: "sown", text: "a", max: 9))
        ),
        ("changes", .changes(of: StateSelection(path: ["beds"]), before: 9, max: 5)),
        ("trim", .trim(before: 2)), ("schedules", .schedules), ("schema", .schema),
        ("explain", .explain(event: [1, 2])),
        ("pause a schedule", .pauseSchedule(name: "nightly", who: "ada@host")),
        ("resume a schedule", .resumeSchedule(name: "nightly", who: "ada@host")),
        ("run a schedule", .runSchedule(name: "nightly", who: "ada@host")),
    ]

    static let answers: [(name: String, answer: AdministrationAnswer)] = [
        ("done", .done("it is done")), ("answer refused", .refused("it is not")),
        (
            "effects",
            .effects(
                [
                    ListedEffect(
                        effect: "0.0.0", feedback: "beds", state: .waiting, reason: .retry, text: "dry", seq: 0,
                        waitMilliseconds: 5, failures: 3, request: [1, 2])
                ], others: 1)
        ),
        (
            "quarantined events",
            .quarantine([
                QuarantinedEvent(
                    id: 1, time: 5, session: 2, number: 3, effect: "0.0.0", phase: "reduce", crashes: 2, event: [1])
            ])
        ),
        ("origin of an event", .origin(EventOrigin(event: HistoryRecord(position: 1, seq: 1, kind: "event")))),
        (
            "part changes",
            .changes([PartChange(event: HistoryRecord(position: 1, seq: 1, kind: "event"), value: [1])], from: 0)
        ),
        ("page", .history(HistoryPage(records: [HistoryRecord(position: 1, seq: 1, kind: "event")], next: 2))),
        ("state bytes", .state(seq: 3, bytes: [0xa0])),
        (
            "listed schedules",
            .schedules([ListedSchedule(name: "nightly", schedule: "every 5 s", isPaused: false, last: 5, next: [7, 9])])
        ),
        ("explained", .explained(DecodingExplanation(error: "at beds: expected a map", unknownKeys: ["beds.x"]))),
        (
            "verified",
            .verified(
                VerifyReport(from: 1, through: 9, records: 30, snapshots: 2, stateHashes: 1, difference: "the state"))
        ),
    ]

    static let records: [(name: String, record: Record)] = [
        (
            "event",
            .event(
                EventRecord(
                    seq: Seq(1), time: time, session: session, number: 1, effect: effect, attempt: attempt,
                    wantsSeq: true, bytes: [1, 2, 3]))
        ),
        (
            "event that asks",
            .event(
                EventRecord(
                    seq: Seq(2), time: time, session: session, number: 2, effect: nil, attempt: .none,
                    wantsSeq: true, wantsAnswer: true, bytes: [1]))
        ),
        (
            "event in a trace",
            .event(
                EventRecord(
                    seq: Seq(3), time: time, session: session, number: 3, effect: effect, attempt: attempt,
                    wantsSeq: false, isLast: true, trace: trace, bytes: [1]))
        ),
        (
            "refused",
            .refused(RefusalRecord(session: session, number: 2, reason: .attempt, effect: effect, attempt: attempt))
        ),
        (
            "refused in detail",
            .refused(
                RefusalRecord(
                    session: session, number: 2, reason: .undecodable, effect: nil, attempt: .none,
                    detail: "at beds: expected a map, found 7"))
        ),
        ("timer fired", .event(EventRecord(timer: effect, seq: Seq(2), time: time, bytes: [1, 2]))),
        ("scheduled", .scheduled(ScheduleRecord(schedule: 1, time: time, next: time, plan: 0xfeed))),
        (
            "schedule ran",
            .event(
                EventRecord(
                    ScheduledRun(schedule: 1, due: time, next: time, plan: 0xfeed, isByHand: false), seq: Seq(3),
                    time: time, bytes: [1]))
        ),
        (
            "schedule ran by hand",
            .event(
                EventRecord(
                    ScheduledRun(schedule: 1, due: time, next: time, plan: 0xfeed, isByHand: true), seq: Seq(4),
                    time: time, bytes: [1]))
        ),
        ("pause schedule", .operatorAction(OperatorAction(.pauseSchedule(1), by: "ada@host", at: time))),
        ("accept clock", .operatorAction(OperatorAction(.acceptClock, by: "--accept-clock", at: time))),
        ("resume schedule", .operatorAction(OperatorAction(.resumeSchedule(1), by: "ada@host", at: time))),
        ("run schedule", .operatorAction(OperatorAction(.runSchedule(1), by: "ada@host", at: time))),
        ("session owned", .sessionOwned(session, owner)), ("state marked", .stateMarked(Seq(1))),
        ("mark hash", .markHash(Seq(1), 0xdead_beef)),
        ("completed", .completed(session, number: 3, effect, attempt)), ("skipped", .skipped(session, number: 4)),
        (
            "attempt ended",
            .attemptEnded(
                AttemptEnd(
                    effect: effect, upTo: attempt, cause: .failed, next: .retry(RetryTime(notBefore: time, wait: 3000)),
                    message: "dry",
                    entry: EntryNumber(session: session, number: 5)))
        ),
        ("parked", .attemptEnded(AttemptEnd(effect: effect, upTo: attempt, cause: .unresponsive, next: .parked))),
        ("granted", .granted(GrantRecord(first: attempt, effects: [effect, effect]))),
        ("session opened", .sessionOpened(session, peer)), ("session retired", .sessionRetired(session)),
        ("epoch begun", .epochBegun(epoch, time)),
        (
            "definition",
            .definition(
                DefinitionRecord(
                    fingerprint: 1, schema: 2, initial: 3, initialState: [0xa0], feedbacks: ["beds", "größe"]))
        ),
        ("state hash", .stateHash(Seq(1), 0xdead_beef)),
        (
            "quarantined",
            .quarantined(
                QuarantineRecord(
                    id: 1, time: time, session: session, number: 6, effect: effect, attempt: attempt, phase: .reducing,
                    crashes: 2, bytes: [1, 2]))
        ),
        ("retry parked", .operatorAction(OperatorAction(.retryParked(effect), by: "ada@host", at: time))),
        ("drop quarantined", .operatorAction(OperatorAction(.dropQuarantined(1), by: "ada@host", at: time))),
        ("history begun", .historyBegun(history, time)),
    ]

    static func bytes(_ records: [Record]) -> [UInt8] {
        var bytes: [UInt8] = []
        for record in records { record.write(to: &bytes) }
        return bytes
    }
}

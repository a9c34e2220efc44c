import LoopCore
import LoopWire

/// One message of every kind, as `Vectors/messages.txt` and the specification name them.
enum MessageExamples {
    static let loop = LoopID(name: "slots")
    static let peer = PeerID(high: 0x0011_2233_4455_6677, low: 0x8899_aabb_ccdd_eeff)
    static let effect = EffectID(feedback: 2, seq: Seq(7), index: 1)
    static let attempt = Attempt(epoch: 3, count: 9)
    static let epoch = Epoch(number: 3, nonce: 0xdead_beef)
    static let grant = Grant(
        effect: effect, attempt: attempt, version: Seq(8), failures: 2, isResumed: true, request: [1, 2, 3])
    static let trace = TraceContext(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")

    /// The grant of an effect that is in a trace.
    static var tracedGrant: Grant {
        var grant = grant
        grant.trace = trace
        return grant
    }

    static let toPeer: [(name: String, frame: PeerFrame)] = [
        ("introduction", introduction),
        (
            "join accepted",
            .joinAccepted(
                watermark: 5, silenceLimit: .seconds(3), tickInterval: .milliseconds(500),
                feedbacks: ["updating", "jobs"])
        ),
        (
            "commands",
            .commands(
                number: 4,
                [
                    .start(grant), .update(effect, attempt, version: Seq(9), request: [4]),
                    .cancel(effect, attempt),
                ])
        ),
        ("commands in a trace", .commands(number: 5, [.start(tracedGrant), .cancel(effect, attempt)])),
        ("acknowledgement", .acknowledgement(acknowledgement)),
        ("tick", .tick(Tick(number: 4, watermark: 5, received: 6, stamp: 123_456_789, resend: true))),
        ("assignments", .assignments(Assignments(number: 4, watermark: 5, part: 0, parts: 2, grants: [grant]))),
        (
            "assignments in a trace",
            .assignments(Assignments(number: 4, watermark: 5, part: 0, parts: 1, grants: [tracedGrant, grant]))
        ),
        ("outcomes", .outcomes(acknowledgement)),
        ("busy", .busy(to: .state(transfer: 9), retryAfter: .seconds(1), reason: "full")),
        ("state part", .statePart(StatePart(transfer: 1, seq: Seq(7), part: 8, end: .chunk, bytes: [1, 2]))),
        ("status", .status([0xa0])),
        ("ended", .ended(at: Seq(41), exitCode: 1, text: "3 broken links")),
        ("refused", .refused(Refused(.schema, reducer: "2", peer: "1"), to: .join)),
        ("update", .update(Seq(7), state: [0xa0])),
        ("transitions", transitions),
        ("server heartbeat", .serverHeartbeat(Seq(7))),
        ("delta", .delta(StateDelta(base: Seq(5)...Seq(7), seq: Seq(9), hash: 0xbeef, bytes: [0xa0]))),
        (
            "delta without a hash",
            .delta(StateDelta(base: Seq(7)...Seq(7), seq: Seq(8), hash: nil, bytes: [0xa0]))
        ),
        ("unchanged", .unchanged(Seq(7)...Seq(9))),
        ("state hash", .stateHash(Seq(7), 0xbeef)),
        ("goodbye heard", .goodbyeHeard),
        (
            "refusal details",
            .refusalDetails([RefusalDetail(number: 5, text: "at größe: expected text, found 3")])
        ),
        ("redirect", .redirect("tcp://b:7710")),
        ("no leader", .noLeader(retryAfter: .milliseconds(500))),
        ("answer", .answer(AnswerPart(request: 9, part: 1, parts: 2, bytes: [0xa0]))),
        ("acknowledgement with answers", .acknowledgement(answered)),
        ("outcomes with answers", .outcomes(answered)),
    ].map { ($0, PeerFrame(history: History(0xabcd), epoch: epoch, session: SessionID(11), message: $1)) }

    private static let introduction = ToPeer.introduction(
        Introduction(
            name: "slots", schema: 1, fingerprint: 0xfeed, publisher: "7711", collector: "7712", eventBytesMax: 1024))

    private static let acknowledgement = Acknowledgement(
        base: 3, watermark: 6,
        notable: [
            NotableOutcome(number: 4, outcome: .applied(Seq(7))),
            NotableOutcome(number: 5, outcome: .refused(.stale)),
        ])

    private static let answered = Acknowledgement(
        base: 3, watermark: 6,
        notable: (4...6).map { NotableOutcome(number: $0, outcome: .applied(Seq($0 + 3))) },
        answers: [
            NumberedAnswer(number: 4, answer: .value([0x18, 0x2a])),
            NumberedAnswer(number: 5, answer: .missing(.undefined)),
        ])

    private static let transitions = ToPeer.transitions([
        TransitionNote(
            seq: Seq(7), time: WallTime(milliseconds: 1_700_000_000_000), session: SessionID(11), effect: effect,
            event: [0x01]),
        TransitionNote(
            seq: Seq(8), time: WallTime(milliseconds: -1), session: SessionID(12), effect: nil, event: [0x02]),
    ])

    static let toReducer: [(name: String, message: ToReducer)] = [
        ("hello", .hello(name: "slots", schema: 1)),
        (
            "join",
            .join(
                JoinRequest(
                    peer: peer, session: SessionID(11), history: History(0xabcd), epoch: epoch, watermark: 5, schema: 1,
                    fingerprint: 0xfeed, capacity: 8, groups: ["default", "gpu"], name: "wörker 1",
                    feedbacks: ["jobs@workers(default)"]))
        ),
        (
            "claim",
            .claim(
                SessionID(11), epoch,
                ClaimPart([ClaimedAttempt(effect: effect, attempt: attempt)], number: 2, part: 1, parts: 3))
        ),
        (
            "heartbeat",
            .heartbeat(
                Heartbeat(session: SessionID(11), epoch: epoch, echo: 123, applied: 4, settled: 5, capacity: 8))
        ),
        ("assignments?", .assignmentsRequest(SessionID(11), epoch)),
        ("outcomes?", .outcomesRequest(SessionID(11), after: 5)),
        ("state?", .stateRequest(transfer: 1, part: 8)),
        ("state? of a section", .stateRequest(transfer: 0, part: 0, section: "queue")),
        ("state? in chunks", .stateRequest(transfer: 0, part: 0, form: .chunks)),
        ("state? for deltas", .stateRequest(transfer: 0, part: 0, deltas: 200)),
        (
            "progress",
            .progress(
                SessionID(11), epoch,
                [AttemptProgress(effect: effect, attempt: attempt, progress: EffectProgress(0.4, "page 12"))])
        ),
        ("goodbye", .goodbye(SessionID(11), peer, History(0xabcd))),
        ("status?", .statusRequest),
        ("administration", .administration(request: 9, [0xa1, 0x66, 0x70, 0x61, 0x72, 0x6b, 0x65, 0x64, 0xa0])),
    ]

    static let batch = Batch(
        loop: loop, history: History(0xabcd), session: SessionID(11), settled: 5, applied: 4, first: 6,
        entries: [
            Entry(kind: .event, payload: [0x01, 0x02], wantsSeq: true),
            Entry(kind: .event, effect: effect, attempt: attempt, payload: [0x03]),
            Entry(kind: .event, effect: effect, attempt: attempt, payload: [0x04], isLast: true),
            Entry(kind: .completed, effect: effect, attempt: attempt),
            Entry(
                kind: .failed, effect: effect, attempt: attempt,
                payload: Failure(message: "no route", retryAfter: .seconds(2)).bytes[...]),
            Entry(kind: .released, effect: effect, attempt: attempt),
        ])

    static let traced = Batch(
        loop: loop, history: History(0xabcd), session: SessionID(11), settled: 5, applied: 4, first: 14,
        entries: [
            Entry(kind: .event, payload: [0x01], trace: trace),
            Entry(kind: .event, payload: [0x02], wantsAnswer: true, trace: trace),
            Entry(kind: .event, effect: effect, attempt: attempt, payload: [0x03], isLast: true, trace: trace),
        ])

    static let asking = Batch(
        loop: loop, history: History(0xabcd), session: SessionID(11), settled: 5, applied: 4, first: 12,
        entries: [
            Entry(kind: .event, payload: [0x01, 0x02], wantsAnswer: true),
            Entry(kind: .event, effect: effect, attempt: attempt, payload: [0x03], wantsAnswer: true),
        ])

    static let topics: [(name: String, topic: Topic)] = [
        ("whole states", .updates(loop, UpdateStream(.full))),
        ("deltas", .updates(loop, UpdateStream(.delta, interval: 200))),
        ("a section's deltas", .updates(loop, UpdateStream(.delta, of: SectionID(name: "queue")))),
        ("transitions", .transitions(loop)),
        ("server heartbeat", .tick(loop)),
    ]

    /// Every example's name and bytes, in the order of the vectors.
    static var all: [(name: String, bytes: [UInt8])] {
        toPeer.map { ("reducer: \($0.name)", $0.frame.bytes(topic: nil)) }
            + [("reducer: tick in its inbox", toPeer[5].frame.bytes(topic: .inbox(loop, peer)))]
            + toReducer.map { ("peer: \($0.name)", $0.message.bytes(loop: loop)) } + [("peer: batch", batch.bytes)]
            + [("peer: batch that asks", asking.bytes), ("peer: batch in a trace", traced.bytes)]
            + topics.map { ("topic: \($0.name)", $0.topic.bytes) }
    }
}

import LoopCluster
import LoopCore
import LoopWire

/// Makes journals of a garden at random: what a reducer could write, record by record.
struct Gardener {
    var core: JournaledState
    var random: SeededRandom
    var records: [Record] = []
    private var session = SessionID(1)
    private var number: UInt64 = 0

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        core = JournaledState(definition: Garden(), coder: CBORCoder(), history: History(seed | 1))
        try write(.definition(core.ownDefinition))
        try write(.epochBegun(Epoch(number: 1, nonce: 9), WallTime(milliseconds: 5)))
        try write(.sessionOpened(session, PeerID(high: 1, low: 1)))
    }

    @discardableResult
    mutating func write(_ record: Record) throws -> [LiveChange] {
        records.append(record)
        return try core.apply(record)
    }

    private mutating func pick() -> EffectID? {
        let open = core.effects.keys.sorted()
        return open.isEmpty ? nil : open[Int.random(in: 0..<open.count, using: &random)]
    }

    /// One record more.
    mutating func step() throws {
        let entry = EntryNumber(session: session, number: number + 1)
        let attempt = Attempt(epoch: core.epoch.number, count: number)
        switch Int.random(in: 0..<14, using: &random) {
        case 0:
            try write(.skipped(session, number: entry.number))
        case 1:
            guard let effect = pick() else { return }
            try write(.completed(session, number: entry.number, effect, attempt))
        case 2:
            guard let effect = pick() else { return }
            try write(
                .attemptEnded(
                    AttemptEnd(
                        effect: effect, upTo: attempt, cause: .failed,
                        next: Bool.random(using: &random)
                            ? .parked : .retry(RetryTime(notBefore: WallTime(milliseconds: 77), wait: 7)),
                        message: "dry", entry: entry)))
        case 3:
            try write(
                .refused(
                    RefusalRecord(
                        session: session, number: entry.number, reason: .attempt, effect: pick(), attempt: attempt)))
        case 4:
            try write(
                .quarantined(
                    QuarantineRecord(
                        id: core.quarantinedCount + 1, time: core.time, session: session, number: entry.number,
                        effect: pick(), attempt: attempt, phase: .reducing, crashes: 2, bytes: [1, 2, 3])))
        case 5:
            // A record of the definition that is known already changes nothing.
            let changes = try write(.definition(core.ownDefinition))
            if !changes.isEmpty { throw RecordDoesNotFit(reason: "\(changes)") }
            let next = Epoch(number: core.epoch.number + 1, nonce: random.next())
            try write(.epochBegun(next, core.time))
            return
        case 6:
            let peer = PeerID(high: 1, low: UInt64.random(in: 0..<3, using: &random))
            session = core.nextSession
            number = 0
            try write(.sessionOpened(session, peer))
            return
        case 7:
            let others = core.sessions.keys.filter { $0 != session }.sorted()
            guard let other = others.first else { return }
            try write(.sessionRetired(other))
            return
        case 8:
            guard let parked = core.effects.keys.sorted().first(where: { core.effects[$0]?.status != .open }) else {
                return
            }
            try write(.operatorAction(OperatorAction(.retryParked(parked), by: "me@here", at: core.time)))
            return
        default:
            let event = Garden.Event.any(&random)
            try write(
                .event(
                    EventRecord(
                        seq: core.seq.next, time: WallTime(milliseconds: core.time.milliseconds + 1), session: session,
                        number: entry.number, effect: nil, attempt: .none, wantsSeq: Bool.random(using: &random),
                        bytes: try CBORCoder().encode(event)[...])))
        }
        number = entry.number
    }
}

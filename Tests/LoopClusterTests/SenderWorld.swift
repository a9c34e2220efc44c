import LoopCluster
import LoopCore
import LoopWire

/// A sender with a stream on disk, a reducer, and a network between them that loses what it likes. Everything that can die
/// dies: the sender between any two steps of its turn, the reducer, and its history.
struct SenderWorld {
    /// What must not happen.
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    /// Where in its turn a sender dies.
    enum Death: CaseIterable {
        case beforeItKeeps, beforeItActs, afterItPushed
    }

    private(set) var bench: ReducerBench
    private var random: SeededRandom
    private var isCalm = false

    // The sender and its disk.
    private var machine: PeerMachine
    private var disk = PeerStream()
    private var diskPeer: PeerID
    private var diskLast: UInt64 = 0
    private var peersCount: UInt64 = 1
    /// Ids by the number under which their sender knows them.
    private var kept: [UInt64: Int] = [:]
    private var unkept: [UInt64: Int] = [:]
    private var toldUpTo: UInt64 = 0

    // The network.
    private var requests: [ToReducer] = []
    private var batches: [Batch] = []
    private var answers: [(isInbox: Bool, frame: PeerFrame)] = []

    // What happened.
    private var nextID = 0
    private var garbage: Set<Int> = []
    private var applied: [Int: Int] = [:]
    private var recordsSeen = 0
    private var lostStreams: Set<Int> = []
    private var told: Set<Int> = []
    private var streamsEnd = false
    private(set) var deaths = 0
    private(set) var histories = 1
    var appliedCount: Int { applied.count }
    var lostCount: Int { lostStreams.count }
    var keptCount: Int { kept.count }

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        bench = try ReducerBench()
        diskPeer = PeerID(high: 1, low: 1)
        machine = PeerMachine(configuration: Self.configuration(diskPeer), resuming: disk, at: bench.moment.monotonic)
    }

    private static func configuration(_ peer: PeerID) -> PeerConfiguration {
        PeerConfiguration(peer: peer, loop: Lamps.name, name: "sender", outboxEntriesMax: 64, outboxEntriesReserved: 0)
    }

    private mutating func chance(_ share: Double) -> Bool {
        !isCalm && Double.random(in: 0..<1, using: &random) < share
    }

    // MARK: The run

    mutating func run(steps: Int) throws {
        for _ in 0..<steps { try step() }
        isCalm = true
        var calmSteps = 0
        while machine.settledNumber < machine.lastNumber || !machine.isJoined {
            calmSteps += 1
            guard calmSteps < 2000 else { throw Violation(description: "what is left is never settled: \(machine)") }
            try step()
        }
        try judge()
    }

    private mutating func step() throws {
        if chance(0.3) { try send() }
        if chance(0.01) { machine.stop(at: bench.moment.monotonic) }
        let death = chance(0.02) ? Death.allCases.randomElement(using: &random) : nil
        if try !takeTurn(death) { try start() }
        if chance(0.004) { try restartReducer() }
        try bringToReducer()
        bringToSender()
        bench.time += Int64.random(in: 1...120, using: &random)
    }

    private mutating func send() throws {
        let id = nextID
        let isGarbage = chance(0.1)
        let payload = isGarbage ? [0xFF] : try bench.coder.encode(Lamps.Event.mine(id))
        guard case .accepted(let number) = machine.send(payload[...], of: nil, wantsSeq: chance(0.2)) else { return }
        nextID += 1
        unkept[number] = id
        if isGarbage { garbage.insert(id) }
    }

    /// - Returns: false where its process is over.
    private mutating func takeTurn(_ death: Death?) throws -> Bool {
        machine.advance(to: bench.moment.monotonic)
        let actions = machine.takeActions()
        for case .settled(let number, let outcome, _) in actions { try hear(number, outcome) }
        while toldUpTo < machine.settledNumber {
            toldUpTo += 1
            if let id = kept[toldUpTo], !told.contains(id) { try hear(toldUpTo, .applied(.initial)) }
        }
        if death == .beforeItKeeps { return false }
        keep()
        if death == .beforeItActs { return false }
        var isOver = false
        for action in actions {
            switch action {
            case .send(let message): if !chance(0.1) { requests.append(message) }
            case .connect, .rebuildPush: if chance(0.3) { batches.removeAll() }
            case .finished, .loopEnded, .refused: isOver = true
            case .dial, .redial, .lookUp, .run, .update, .stop, .hasSpace, .settled, .answered, .keptWaiting: break
            }
        }
        while let batch = machine.nextBatch() {
            if chance(0.1) {
                machine.couldNotPush(batch)
                break
            }
            if !chance(0.1) { batches.append(batch) }
        }
        return death == nil && !isOver
    }

    /// As a file does: entries and the session at once, what is settled when it suits.
    private mutating func keep() {
        let stream = machine.stream(after: 0)
        var same = stream
        (same.entries, same.settled) = (disk.entries, disk.settled)
        guard machine.lastNumber > diskLast || same != disk || chance(0.3) || isCalm else { return }
        disk = stream
        diskLast = max(diskLast, machine.lastNumber)
        diskPeer = machine.configuration.peer
        machine.kept(settled: stream.settled)
        kept.merge(unkept) { _, new in new }
        unkept = [:]
    }

    /// Another process with the same file.
    private mutating func start() throws {
        deaths += 1
        unkept = [:]
        told = []
        peersCount += 1
        let peer = disk.session == .none ? PeerID(high: 1, low: peersCount) : diskPeer
        machine = PeerMachine(configuration: Self.configuration(peer), resuming: disk, at: bench.moment.monotonic)
        diskLast = machine.lastNumber
        toldUpTo = machine.settledNumber
        // What an earlier process has on its way still arrives, or not.
        if chance(0.5) { batches.removeAll() }
        if chance(0.5) { requests.removeAll() }
    }

    private mutating func restartReducer() throws {
        if chance(0.5) {
            bench = try ReducerBench(
                history: bench.machine.history, replaying: bench.records, at: bench.time + 50)
        } else {
            histories += 1
            bench = try ReducerBench(history: History(UInt64(0x9000 + histories)), at: bench.time + 50)
            recordsSeen = 0
            streamsEnd = true
        }
        answers.removeAll()
    }

    // MARK: The network

    private mutating func bringToReducer() throws {
        let peer = machine.configuration.peer
        let (said, pushed) = (requests, batches)
        requests = []
        batches = []
        let outbound = bench.turn { intake in
            for message in said { intake.receive(message, from: .router([9]), by: .unknown) }
            for batch in pushed { intake.receive(batch, by: .unknown) }
        }
        if let lost = bench.lost { throw Violation(description: "the reducer misses records: \(lost)") }
        for message in outbound {
            switch message {
            case .inbox(peer, let frame): if !chance(0.1) { answers.append((true, frame)) }
            case .reply(_, let frame): if !chance(0.1) { answers.append((false, frame)) }
            default: break
            }
        }
        try count()
    }

    private mutating func bringToSender() {
        let now = bench.moment.monotonic
        for (isInbox, frame) in answers {
            if isInbox { machine.receivePublished(frame, at: now) } else { machine.receiveReply(frame, at: now) }
        }
        answers = []
    }

    // MARK: What must be true

    private mutating func count() throws {
        for record in bench.records[recordsSeen...] {
            if case .sessionRetired = record { streamsEnd = true }
            guard case .event(let event) = record,
                case .mine(let id) = try bench.coder.decode(Lamps.Event.self, from: Array(event.bytes))
            else { continue }
            applied[id, default: 0] += 1
            if applied[id] != 1 { throw Violation(description: "event \(id) is applied a second time") }
        }
        recordsSeen = bench.records.count
    }

    private mutating func hear(_ number: UInt64, _ outcome: EntryOutcome) throws {
        guard let id = kept[number] else { throw Violation(description: "hears of \(number), which was never kept") }
        told.insert(id)
        switch outcome {
        case .applied:
            if applied[id] != 1 { throw Violation(description: "event \(id) is reported as applied, and is not") }
        case .refused(.undecodable):
            if !garbage.contains(id) { throw Violation(description: "event \(id) is reported as garbage, and is none") }
        case .refused(.historyChanged):
            if !streamsEnd { throw Violation(description: "event \(id) is reported as lost, and no stream has ended") }
            lostStreams.insert(id)
        case .refused(let reason): throw Violation(description: "event \(id) is refused for \(reason)")
        }
    }

    private func judge() throws {
        for id in kept.values where !lostStreams.contains(id) {
            if applied[id] != (garbage.contains(id) ? nil : 1) {
                throw Violation(description: "event \(id) was kept, and applied \(applied[id] ?? 0) times")
            }
        }
    }
}

extension ReducerBench {
    var moment: Moment { ReducerBench.moment(time) }
}

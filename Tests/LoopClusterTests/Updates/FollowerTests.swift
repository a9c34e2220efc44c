import CBOR
import LoopCluster
import LoopCore
import LoopWire
import Testing

/// An observer's machine and the follower above it, as a shell joins them.
struct Watcher {
    var machine: ObserverMachine
    var follower: StateFollower<Library.State>
    /// What was asked of the reducer.
    var asked: [ToReducer] = []
    /// What was shown, in order.
    var shown: [(seq: UInt64, state: Library.State)] = []
    var missed: [ClosedRange<Seq>] = []
    var divergences: [StateDivergence] = []
    /// Milliseconds.
    var time: Int64 = 1000
    var epoch = Epoch(number: 1, nonce: 7)

    init(_ following: Following, _ definition: Library = Library()) {
        machine = ObserverMachine(following, at: .zero + .milliseconds(1000))
        follower = StateFollower(folding: definition)
    }

    private var now: MonotonicTime { .zero + .milliseconds(time) }

    private func frame(_ message: ToPeer) -> PeerFrame {
        PeerFrame(history: LibraryBench.history, epoch: epoch, session: .none, message: message)
    }

    mutating func hear(_ messages: ToPeer...) {
        for message in messages { machine.receivePublished(frame(message), at: now) }
        perform()
    }

    mutating func fetch(_ seq: UInt64, _ state: Library.State) throws {
        let bytes = try CBOR.encode(state)
        receive(
            .statePart(
                StatePart(transfer: seq + 1, seq: Seq(seq), part: 0, end: .state, bytes: bytes)))
    }

    /// The state in chunks, each a part of its own.
    /// - Parameter comes: whether a part arrives.
    mutating func fetch(
        _ seq: UInt64, inChunks state: Library.State, _ comes: (UInt64) -> Bool = { _ in true }
    ) throws {
        var rest = try #require(try StateChunks(of: state))
        var part: UInt64 = 0
        while !rest.isAtEnd {
            let bytes = try rest.next(byteCount: 20)
            let end = rest.isAtEnd ? StatePart.End.state : .chunk
            if comes(part) {
                receive(
                    .statePart(StatePart(transfer: seq + 1, seq: Seq(seq), part: part, end: end, bytes: bytes)))
            }
            part += 1
        }
    }

    mutating func receive(_ reply: ToPeer) {
        machine.receiveReply(frame(reply), at: now)
        perform()
    }

    mutating func wait(_ milliseconds: Int64) {
        time += milliseconds
        machine.advance(to: now)
        perform()
    }

    private mutating func perform() {
        for action in machine.takeActions() {
            if case .send(let message) = action { asked.append(message) }
            var steps: [StateFollower<Library.State>.Step] = []
            follower.take(action) { steps.append($0) }
            for step in steps {
                switch step {
                case .shows(let seq, let state): shown.append((seq.value, state))
                case .misses(let seqs): missed.append(seqs)
                case .diverged(let divergence):
                    divergences.append(divergence)
                    machine.resync(shown: follower.current?.seq)
                }
            }
        }
    }

    mutating func takeAsked() -> [ToReducer] {
        defer { asked = [] }
        return asked
    }

    var seqs: [UInt64] { shown.map(\.seq) }
}

/// A library's past: its states by their seq, and what is said of them.
struct Past {
    var states = [Library.State()]
    private(set) var notes: [TransitionNote] = []

    init(_ events: Library.Event...) throws {
        for (index, event) in events.enumerated() {
            let seq = Seq(UInt64(index + 1))
            var state = states[index]
            let time = WallTime(milliseconds: 5)
            Library().reduce(&state, event, Transition(seq: seq, time: time, seed: LibraryBench.history.value))
            states.append(state)
            notes.append(
                TransitionNote(
                    seq: seq, time: time, session: SessionID(1), effect: nil, event: try CBOR.encode(event)))
        }
    }

    func delta(_ base: Int, _ seq: Int, hash: Bool = false) throws -> ToPeer {
        .delta(
            StateDelta(
                base: Seq(UInt64(base))...Seq(UInt64(base)), seq: Seq(UInt64(seq)),
                hash: hash ? try self.hash(seq) : nil,
                bytes: try Delta.encode(from: states[base], to: states[seq])))
    }

    func hash(_ seq: Int) throws -> UInt64 { StableHash.fnv1a(try CBOR.encode(states[seq])) }

    func events(_ seqs: ClosedRange<Int>) -> ToPeer {
        .transitions(Array(notes[seqs.lowerBound - 1..<seqs.upperBound]))
    }

    static func some() throws -> Past {
        try Past(
            .shelve("Emma", 1), .shelve("Ulysses", 2), .visit, .lend("Emma"), .shelve("Emma", 9), .visit,
            .shelve("Walden", 1), .lend("Ulysses"))
    }
}

private let request = ToReducer.stateRequest(transfer: 0, part: 0, form: .chunks)

private func request(_ interval: UInt32) -> ToReducer {
    .stateRequest(transfer: 0, part: 0, form: .chunks, deltas: interval)
}

@Suite struct `G9 deltas` {
    @Test func `make one state of the other`() throws {
        let past = try Past.some()
        var watcher = Watcher(.updates(.delta))
        try watcher.fetch(1, past.states[1])
        watcher.hear(try past.delta(1, 3), try past.delta(3, 6, hash: true))
        #expect(watcher.seqs == [1, 3, 6])
        #expect(watcher.shown.map(\.state) == [past.states[1], past.states[3], past.states[6]])
        #expect(watcher.asked == [])
    }

    @Test func `that come while the state is fetched wait for it`() throws {
        let past = try Past.some()
        var watcher = Watcher(.updates(.delta))
        watcher.wait(0)
        #expect(watcher.takeAsked() == [request(0)])
        watcher.hear(try past.delta(0, 2), try past.delta(2, 4), try past.delta(4, 5))
        #expect(watcher.seqs == [])
        try watcher.fetch(4, past.states[4])
        #expect(watcher.seqs == [4, 5])
        #expect(watcher.shown.last?.state == past.states[5])
    }

    @Test func `are not applied to another state than the one they are to`() throws {
        let past = try Past.some()
        var watcher = Watcher(.updates(.delta))
        try watcher.fetch(1, past.states[1])
        // The one from 1 to 2 was lost.
        watcher.hear(try past.delta(2, 3))
        #expect(watcher.seqs == [1])
        #expect(watcher.takeAsked() == [request(0)])
        // What is fetched is still too old.
        try watcher.fetch(1, past.states[1])
        watcher.wait(300)
        #expect(watcher.takeAsked() == [request(0)])
        watcher.hear(try past.delta(3, 4))
        try watcher.fetch(2, past.states[2])
        #expect(watcher.seqs == [1, 2, 3, 4])
        #expect(watcher.divergences == [])
    }

    @Test func `of another hash are not shown, and the state is fetched anew`() throws {
        let past = try Past.some()
        var watcher = Watcher(.updates(.delta))
        try watcher.fetch(1, past.states[0])
        watcher.hear(try past.delta(1, 3, hash: true))
        #expect(watcher.seqs == [1])
        #expect(watcher.divergences.count == 1)
        watcher.wait(0)
        #expect(watcher.takeAsked() == [request(0)])
        try watcher.fetch(3, past.states[3])
        watcher.hear(try past.delta(3, 4, hash: true))
        #expect(watcher.seqs == [1, 3, 4])
        #expect(watcher.divergences.count == 1)
    }

    @Test func `that are no deltas cost a state, and no more than one in a while`() throws {
        let past = try Past.some()
        var watcher = Watcher(.updates(.delta))
        try watcher.fetch(1, past.states[1])
        let noise = StateDelta(base: Seq(1)...Seq(1), seq: Seq(2), hash: nil, bytes: [0xff])
        watcher.hear(.delta(noise))
        watcher.wait(0)
        #expect(watcher.takeAsked() == [request(0)])
        try watcher.fetch(1, past.states[1])
        watcher.hear(.delta(noise))
        watcher.wait(1000)
        #expect(watcher.takeAsked() == [])
        watcher.wait(5000)
        #expect(watcher.takeAsked() == [request(0)])
        #expect(watcher.seqs == [1])
    }

    @Test func `a state that proves wrong afterwards is shown again at its seq`() throws {
        let past = try Past.some()
        var watcher = Watcher(.updates(.delta))
        try watcher.fetch(3, past.states[2])
        let hash = ToPeer.stateHash(Seq(3), try past.hash(3))
        watcher.hear(hash, hash)
        #expect(watcher.divergences.count == 1)
        try watcher.fetch(3, past.states[3])
        #expect(watcher.seqs == [3, 3])
        #expect(watcher.shown.last?.state == past.states[3])
        watcher.hear(hash)
        #expect(watcher.divergences.count == 1)
    }

    @Test func `in a new epoch a state comes first, for the journal may have lost what was shown`() throws {
        let (past, other) = (
            try Past.some(), try Past(.shelve("Lolita", 1), .shelve("Dune", 1), .visit, .shelve("It", 1))
        )
        var watcher = Watcher(.updates(.delta))
        try watcher.fetch(3, past.states[3])
        watcher.epoch = Epoch(number: 2, nonce: 8)
        watcher.hear(try other.delta(3, 4))
        #expect(watcher.seqs == [3])
        watcher.wait(0)
        #expect(watcher.takeAsked() == [request(0)])
        try watcher.fetch(4, other.states[4])
        #expect(watcher.shown.last?.state == other.states[4])
    }

    @Test func `without that rule a state is made that did not exist`() throws {
        let (past, other) = (
            try Past.some(), try Past(.shelve("Lolita", 1), .shelve("Dune", 1), .visit, .shelve("It", 1))
        )
        var watcher = Watcher(.updates(.delta))
        watcher.machine.brokenRules = BrokenRules([.epochsBeginWithAState])
        try watcher.fetch(3, past.states[3])
        watcher.epoch = Epoch(number: 2, nonce: 8)
        watcher.hear(try other.delta(3, 4))
        #expect(watcher.seqs == [3, 4])
        #expect(watcher.shown.last?.state != other.states[4])
    }

    @Test func `a section that has not changed is known to be current`() throws {
        let past = try Past.some()
        var watcher = Watcher(.updates(.delta))
        try watcher.fetch(2, past.states[2])
        watcher.hear(.unchanged(Seq(1)...Seq(5)), .serverHeartbeat(Seq(5)))
        watcher.wait(1000)
        #expect(watcher.asked == [])
        #expect(watcher.machine.standing(isHeard: true) == ObserverStanding(seq: Seq(5), isCurrent: true))
        // Its last change was lost.
        watcher.hear(.unchanged(Seq(6)...Seq(7)))
        #expect(watcher.takeAsked() == [request(0)])
    }

    @Test func `who chose a slow stream waits for it as long`() throws {
        let past = try Past.some()
        var watcher = Watcher(.updates(.delta, interval: 2000))
        try watcher.fetch(2, past.states[2])
        watcher.hear(.serverHeartbeat(Seq(4)))
        watcher.wait(2000)
        #expect(watcher.asked == [])
        watcher.wait(200)
        #expect(watcher.asked == [request(2000)])
    }
}

@Suite struct `G9 folded events` {
    private let fingerprint = DefinitionFingerprint(of: Library()).value

    private func watcher(_ definition: Library = Library()) -> Watcher {
        Watcher(Following(.events(fingerprint: fingerprint)), definition)
    }

    private func range(after seq: UInt64) -> ToReducer {
        .transitionsRequest(fingerprint: fingerprint, after: Seq(seq))
    }

    @Test func `make every state`() throws {
        let past = try Past.some()
        var watcher = watcher()
        try watcher.fetch(0, past.states[0])
        watcher.hear(past.events(1...3), past.events(4...8), .stateHash(Seq(8), try past.hash(8)))
        #expect(watcher.shown.map(\.state) == past.states)
        #expect(watcher.divergences == [])
        #expect(watcher.asked == [])
    }

    @Test func `that were lost are asked for, and what came meanwhile waits`() throws {
        let past = try Past.some()
        var watcher = watcher()
        try watcher.fetch(1, past.states[1])
        watcher.hear(past.events(5...6))
        #expect(watcher.takeAsked() == [range(after: 1)])
        watcher.hear(past.events(7...7))
        watcher.receive(past.events(2...3))
        // The answer was cut at what fits into a message.
        #expect(watcher.takeAsked() == [range(after: 3)])
        watcher.receive(past.events(4...6))
        #expect(watcher.seqs == [1, 2, 3, 4, 5, 6, 7])
        #expect(watcher.shown.last?.state == past.states[7])
        #expect(watcher.missed == [])
        #expect(watcher.takeAsked() == [])
    }

    @Test func `that were lost at the end are noticed by the tick`() throws {
        let past = try Past.some()
        var watcher = watcher()
        try watcher.fetch(4, past.states[4])
        watcher.hear(.serverHeartbeat(Seq(6)))
        watcher.wait(200)
        #expect(watcher.takeAsked() == [range(after: 4)])
        watcher.receive(past.events(5...6))
        #expect(watcher.seqs == [4, 5, 6])
    }

    @Test func `that are no longer at hand are told as missed, and a state takes their place`() throws {
        let past = try Past.some()
        var watcher = watcher()
        try watcher.fetch(1, past.states[1])
        watcher.hear(past.events(7...7))
        #expect(watcher.takeAsked() == [range(after: 1)])
        watcher.receive(.transitions([]))
        #expect(watcher.takeAsked() == [request])
        try watcher.fetch(6, past.states[6])
        #expect(watcher.seqs == [1, 6, 7])
        #expect(watcher.missed == [Seq(2)...Seq(5)])
    }

    @Test func `that another reducer makes something else of are found by the hash`() throws {
        let past = try Past.some()
        var watcher = watcher(Library(isFickle: true))
        try watcher.fetch(2, past.states[2])
        watcher.hear(past.events(3...3), .stateHash(Seq(3), try past.hash(3)))
        guard case .otherHash(Seq(3), _, _) = watcher.divergences.first else {
            Issue.record("nothing was noticed: \(watcher.divergences)")
            return
        }
        watcher.wait(0)
        #expect(watcher.takeAsked() == [request])
        try watcher.fetch(3, past.states[3])
        #expect(watcher.shown.last?.state == past.states[3])
        #expect(watcher.seqs == [2, 3, 3])
    }

    @Test func `that cannot be read end nothing: the state behind them is fetched, and they are missed`() throws {
        let past = try Past.some()
        var watcher = watcher()
        try watcher.fetch(1, past.states[1])
        var notes = past.notes[1...3]
        notes[2].event = [0xff]
        watcher.hear(.transitions(Array(notes)))
        #expect(watcher.seqs == [1, 2])
        watcher.wait(0)
        #expect(watcher.takeAsked() == [request])
        try watcher.fetch(5, past.states[5])
        #expect(watcher.seqs == [1, 2, 5])
        #expect(watcher.missed == [Seq(3)...Seq(4)])
    }

    @Test func `of seqs at the end of all numbers bring nobody down`() throws {
        let past = try Past.some()
        var watcher = watcher()
        try watcher.fetch(1, past.states[1])
        var note = past.notes[0]
        for seq: UInt64 in [.max, 0, .max, 2] {
            note.seq = Seq(seq)
            watcher.hear(.transitions([note]))
            watcher.receive(.transitions([note]))
            watcher.hear(.unchanged(Seq(seq)...Seq(.max)), .serverHeartbeat(Seq(seq)), .stateHash(Seq(seq), 1))
            watcher.wait(1000)
        }
        #expect(watcher.seqs.prefix(2) == [1, 2])
    }

    @Test func `another fingerprint's refusal ends it`() {
        var watcher = watcher()
        let refused = Refused(.definition, reducer: "1", peer: "2")
        watcher.machine.receiveReply(
            PeerFrame(
                history: LibraryBench.history, epoch: watcher.epoch, session: .none, message: .refused(refused)),
            at: .zero + .seconds(1))
        #expect(watcher.machine.takeActions() == [.refused(refused)])
    }
}

@Suite struct `G9 a loop that never rests` {
    private let fingerprint = DefinitionFingerprint(of: Library()).value

    /// Ten seconds of 50 events a second; the watcher comes after one, and loses what is published in the fourth.
    private func watched(_ following: Following) throws -> (bench: LibraryBench, watcher: Watcher, asked: Int) {
        var bench = LibraryBench()
        var watcher = Watcher(following)
        var count = 0
        for step in 0..<500 {
            if step == 50 {
                for topic in following.topics(of: LibraryBench.loop) {
                    if case .updates(_, let stream) = topic { bench.subscriptions.streams = [stream] }
                    if case .events = topic { bench.subscriptions.hasEvents = true }
                }
            }
            let out = try bench.send(
                step % 3 == 0 ? .visit : step % 3 == 1 ? .shelve("\(step % 40)", step) : .lend("\(step % 30)"),
                after: 20)
            watcher.time = bench.time
            if step < 50 { continue }
            if !(150..<200).contains(step) {
                for topic in following.topics(of: LibraryBench.loop) {
                    for message in out.published(on: topic) { watcher.hear(message) }
                }
            }
            watcher.wait(0)
            for message in watcher.takeAsked() {
                count += 1
                for reply in bench.ask(message) { watcher.receive(reply) }
            }
        }
        return (bench, watcher, count)
    }

    @Test(arguments: [0, 500] as [UInt32])
    func `is followed by its deltas, and the state is fetched when some were lost`(interval: UInt32) throws {
        let (bench, watcher, asked) = try watched(.updates(.delta, interval: interval))
        #expect(watcher.divergences == [])
        #expect(asked <= 8)
        #expect(watcher.shown.count >= (interval == 0 ? 75 : 13))
        #expect(watcher.seqs == watcher.seqs.sorted())
        let last = try #require(watcher.shown.last)
        #expect(bench.machine.seq.value - last.seq <= (interval == 0 ? 5 : 25))
    }

    @Test func `is followed by its events, all of them`() throws {
        let (bench, watcher, asked) = try watched(Following(.events(fingerprint: fingerprint)))
        #expect(watcher.divergences == [])
        #expect(asked <= 4)
        #expect(watcher.missed == [])
        #expect(watcher.shown.last?.seq == bench.machine.seq.value)
        #expect(watcher.shown.last?.state == bench.state)
        #expect(watcher.seqs == Array(watcher.seqs[0]...bench.machine.seq.value))
    }
}

@Suite struct `G9 a state in chunks` {
    private var watcher = Watcher(.updates(.delta))

    private static func library(_ count: Int) -> Library.State {
        var state = Library.State()
        for number in 0..<count { state.books["book \(number)"] = number }
        return state
    }

    @Test mutating func `is shown when the last has come, and deltas follow it`() throws {
        let state = Self.library(100)
        var next = state
        next.books["book 3"] = nil
        try watcher.fetch(5, inChunks: state) { $0 < 4 }
        #expect(watcher.seqs == [])
        let delta = StateDelta(
            base: Seq(5)...Seq(5), seq: Seq(6), hash: StableHash.fnv1a(try CBOR.encode(next)),
            bytes: try Delta.encode(from: state, to: next))
        watcher.hear(.delta(delta))
        try watcher.fetch(5, inChunks: state) { $0 >= 4 }
        #expect(watcher.seqs == [5, 6])
        #expect(watcher.shown.map(\.state) == [state, next])
        #expect(watcher.divergences == [])
    }

    @Test mutating func `begins anew with another transfer, of which nothing is mixed with the one before`() throws {
        try watcher.fetch(5, inChunks: Self.library(100)) { $0 < 4 }
        try watcher.fetch(7, inChunks: Self.library(50))
        #expect(watcher.seqs == [7])
        #expect(watcher.shown.last?.state == Self.library(50))
    }

    @Test mutating func `is fetched whole where a chunk cannot be read, or the chunks make another state`() throws {
        _ = watcher.takeAsked()
        watcher.receive(.statePart(StatePart(transfer: 1, seq: Seq(4), part: 0, end: .chunk, bytes: [0xff])))
        guard case .unreadableChunk(Seq(4), 0, _)? = watcher.divergences.last else {
            Issue.record("\(watcher.divergences)")
            return
        }
        watcher.wait(1000)
        #expect(watcher.takeAsked().last == .stateRequest(transfer: 0, part: 0, form: .whole, deltas: 0))
        try watcher.fetch(4, Self.library(3))
        #expect(watcher.shown.last?.state == Self.library(3))
    }

    @Test func `takes memory for what has come`() {
        // 4096 parts of no bytes at all: nobody said how many more will come, and nothing is kept of them.
        var fetch = StateFetch(StatePart(transfer: 1, seq: Seq(1), part: 0, end: .nothing, bytes: []))
        for part in 0..<UInt64(4096) {
            let taken = fetch.take(StatePart(transfer: 1, seq: Seq(1), part: part, end: .nothing, bytes: []))
            #expect(taken == nil)
        }
        #expect(fetch.byteCount == 0)
        let last = fetch.take(StatePart(transfer: 1, seq: Seq(1), part: 4096, end: .state, bytes: [1, 2]))
        #expect(last == [1, 2])
        #expect(last.map(\.capacity).map { $0 < 1024 } == true)
    }
}

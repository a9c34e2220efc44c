import LoopCluster
import LoopCore
import LoopWire
import Testing

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

    @Test func `of another hash are not shown, and the state is fetched again`() throws {
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
        #expect(watcher.machine.standing(isHeard: true) == ObserverStanding(state: watcher.id(5), isCurrent: true))
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

    @Test func `that cannot be read end nothing: the state after them is fetched, and they are missed`() throws {
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

    @Test func `of seqs at the end of all numbers end no process`() throws {
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
                history: LibraryBench.history, epoch: watcher.epoch, session: .none,
                message: .refused(refused, to: .transitions)),
            at: .zero + .seconds(1))
        #expect(watcher.machine.takeActions().last == .refused(refused))
    }
}

import LoopCluster
import LoopCore
import LoopWire
import Testing

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

    @Test func `of seqs at the end of all numbers end no process`() throws {
        let past = try Past.some()
        var watcher = Watcher(.updates(.delta))
        try watcher.fetch(1, past.states[1])
        for seq: UInt64 in [.max, 0, .max, 2] {
            let noise = StateDelta(base: Seq(seq)...Seq(.max), seq: Seq(seq), hash: nil, bytes: [0xff])
            watcher.hear(.delta(noise))
            watcher.hear(.unchanged(Seq(seq)...Seq(.max)), .serverHeartbeat(Seq(seq)), .stateHash(Seq(seq), 1))
            watcher.wait(1000)
        }
        #expect(watcher.seqs == [1])
    }
}

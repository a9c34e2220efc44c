import CBOR
import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `G9 a loop that never rests` {
    /// Ten seconds of 50 events a second; the watcher comes after one, and loses what is published in the fourth.
    private func watched(_ following: Following) throws -> (bench: LibraryBench, watcher: Watcher, asked: Int) {
        var bench = LibraryBench()
        var watcher = Watcher(following)
        var count = 0
        for step in 0..<500 {
            if step == 50 {
                for topic in following.topics(of: LibraryBench.loop) {
                    if case .updates(_, let stream) = topic { bench.subscriptions.streams = [stream] }
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
            bytes: try Delta.encode(since: DeltaBase(of: state), to: next))
        watcher.hear(.delta(delta))
        try watcher.fetch(5, inChunks: state) { $0 >= 4 }
        #expect(watcher.seqs == [5, 6])
        #expect(watcher.shown.map(\.state) == [state, next])
        #expect(watcher.divergences == [])
    }

    @Test mutating func `begins again with another transfer, of which nothing is mixed with the one before`() throws {
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
        // 4096 parts of no bytes at all: it is not known how many more will come, and nothing is kept of them.
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

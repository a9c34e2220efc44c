import CBOR
import LoopCluster
import LoopCore
import LoopWire
import Testing

/// What a reducer publishes for those who follow the state.
@Suite struct `G9 streams of updates` {
    private let full = UpdateStream(.full)
    private let delta = UpdateStream(.delta)
    private let slow = UpdateStream(.delta, interval: 1000)
    private let books = UpdateStream(.full, of: SectionID(name: "books"))
    private let bookChanges = UpdateStream(.delta, of: SectionID(name: "books"))

    private func replies(_ out: [Outbound]) -> [ToPeer] {
        out.compactMap { if case .reply(.router([5]), let frame) = $0 { frame.message } else { nil } }
    }

    @Test func `nothing is published without followers`() throws {
        var bench = LibraryBench()
        let out = try bench.send(.visit)
        #expect(!out.contains { if case .publish(.updates, _) = $0 { true } else { false } })
        #expect(!out.contains { if case .publish(.transitions, _) = $0 { true } else { false } })
    }

    @Test func `each delta is to the state that was published before on its stream`() throws {
        var bench = LibraryBench(following: [delta, slow])
        #expect(bench.turn().isEmpty)
        let old = bench.state
        let first = try bench.send(.shelve("Emma", 1), .shelve("Ulysses", 2))
        let middle = bench.state
        #expect(
            first.deltas(on: delta) == [
                StateDelta(
                    base: Seq(0)...Seq(0), seq: Seq(2), hash: nil,
                    bytes: try Delta.encode(since: DeltaBase(of: old), to: middle))
            ])
        #expect(first.deltas(on: slow) == [])
        let second = try bench.send(.shelve("Emma", 3), after: 1000)
        #expect(
            second.deltas(on: delta) == [
                StateDelta(
                    base: Seq(2)...Seq(2), seq: Seq(3), hash: nil,
                    bytes: try Delta.encode(since: DeltaBase(of: middle), to: bench.state))
            ])
        // The slow stream leaves nothing out: its delta is to what was published on it, three events ago.
        #expect(
            second.deltas(on: slow) == [
                StateDelta(
                    base: Seq(0)...Seq(0), seq: Seq(3), hash: nil,
                    bytes: try Delta.encode(since: DeltaBase(of: old), to: bench.state))
            ])
    }

    @Test func `a stream's interval is kept, and so is the reducer's own limit`() throws {
        var bench = LibraryBench(following: [full, UpdateStream(.full, interval: 1000)])
        _ = bench.turn()
        var counts = [0, 0]
        for _ in 0..<40 {
            let out = try bench.send(.visit, after: 50)
            counts[0] += out.published(on: full).count
            counts[1] += out.published(on: UpdateStream(.full, interval: 1000)).count
        }
        // Two seconds.
        #expect(counts == [20, 2])
    }

    @Test func `a section is published when it has changed, and only then`() throws {
        var bench = LibraryBench(following: [books, bookChanges])
        _ = bench.turn()
        #expect(try bench.send(.visit).published(on: books) == [])
        let out = try bench.send(.shelve("Emma", 1))
        #expect(out.published(on: books) == [.update(Seq(2), state: try CBOR.encode(bench.state.books))])
        #expect(
            out.deltas(on: bookChanges) == [
                StateDelta(
                    base: Seq(0)...Seq(1), seq: Seq(2), hash: nil,
                    bytes: try Delta.encode(
                        since: DeltaBase(of: TrackedDictionary<String, Int>()), to: bench.state.books))
            ])
        #expect(try bench.send(.visit, .visit).deltas(on: bookChanges) == [])
    }

    @Test func `once a tick has told of newer events, those who follow a section hear that it has not changed`() throws
    {
        var bench = LibraryBench(following: [books])
        _ = bench.turn()
        _ = try bench.send(.shelve("Emma", 1))
        // A tick comes every half second.
        var told: [ToPeer] = []
        for _ in 0..<4 { told += try bench.send(.visit).published(on: books) }
        #expect(told == [.unchanged(Seq(1)...Seq(3))])
        // With each tick again: the last one may have been lost.
        told = []
        for _ in 0..<10 { told += bench.turn(after: 100).published(on: books) }
        #expect(told == [.unchanged(Seq(1)...Seq(5)), .unchanged(Seq(1)...Seq(5))])
    }

    @Test func `a delta too large for a message is announced, and the next one is to it`() throws {
        var bench = LibraryBench(following: [delta]) { $0.stateBytesMax = 100 }
        _ = bench.turn()
        let large = try bench.send(.shelve(String(repeating: "x", count: 200), 1))
        #expect(large.deltas(on: delta) == [])
        #expect(large.published(on: .tick(LibraryBench.loop)).contains(.serverHeartbeat(Seq(1))))
        #expect(try bench.send(.visit).deltas(on: delta).map(\.base) == [Seq(1)...Seq(1)])
    }

    @Test func `a hash of the state comes with a delta now and then, and with a tick when the loop rests`() throws {
        var bench = LibraryBench(following: [delta])
        _ = bench.turn()
        var hashes: [StateDelta] = []
        for _ in 0..<60 {
            hashes += try bench.send(.visit, .visit, after: 100).deltas(on: delta).filter { $0.hash != nil }
        }
        #expect((1...4).contains(hashes.count))
        var resting: [ToPeer] = []
        for _ in 0..<10 { resting += bench.turn(after: 100).published(on: delta) }
        let hash = ToPeer.stateHash(bench.machine.seq, StableHash.fnv1a(try CBOR.encode(bench.state)))
        #expect(resting.last == hash)
    }

    @Test func `an observer that joins within an interval gets the state of an update that is made for it`() throws {
        var bench = LibraryBench(following: [slow])
        _ = bench.turn()
        let old = bench.state
        _ = try bench.send(.shelve("Emma", 1), after: 1)
        let middle = bench.state
        let out = bench.turn {
            $0.receive(
                .stateRequest(transfer: 0, part: 0, section: "", deltas: 1000), from: .router([5]), by: .unknown)
        }
        #expect(
            out.deltas(on: slow) == [
                StateDelta(
                    base: Seq(0)...Seq(0), seq: Seq(1), hash: nil,
                    bytes: try Delta.encode(since: DeltaBase(of: old), to: middle))
            ])
        let bytes = try CBOR.encode(middle)
        #expect(
            replies(out) == [
                .statePart(
                    StatePart(transfer: 1, seq: Seq(1), part: 0, end: .state, bytes: bytes))
            ])
        // The next delta is to that state.
        #expect(try bench.send(.visit, after: 1001).deltas(on: slow).map(\.base) == [Seq(1)...Seq(1)])
    }

    @Test func `a large state is encoded by a background job, for all who ask meanwhile`() throws {
        var bench = LibraryBench { $0.hashedBytesMax = 1 }
        for number in 0..<20 { _ = try bench.send(.shelve("book \(number)", 1)) }
        _ = bench.takeBackgroundJobs()
        #expect(bench.ask(.stateRequest(transfer: 0, part: 0)) == [])
        #expect(bench.ask(.stateRequest(transfer: 0, part: 0)) == [])
        let (seq, bytes) = (bench.machine.seq, try CBOR.encode(bench.state))
        let backgroundJobs = bench.takeBackgroundJobs()
        #expect(backgroundJobs.count == 1)
        _ = try bench.send(.shelve("another", 1))
        let result = try #require(backgroundJobs.first).run()
        let out = bench.turn { $0.receive(result) }
        #expect(
            replies(out) == [
                .statePart(StatePart(transfer: 1, seq: seq, part: 0, end: .state, bytes: bytes))
            ])
    }

    @Test func `chunks of a large state leave as they are encoded, and are encoded once for all who ask`() throws {
        var bench = LibraryBench {
            $0.hashedBytesMax = 1
            $0.statePartBytes = 40
        }
        for number in 0..<200 { _ = try bench.send(.shelve("book \(number)", number)) }
        _ = bench.takeBackgroundJobs()
        let state = bench.state
        #expect(bench.ask(.stateRequest(transfer: 0, part: 0, form: .chunks)) == [])
        var parts: [StatePart] = []
        var assembled: AssembledState<Library.State>?
        var steps = 0
        while parts.last?.end != .state {
            // What happens meanwhile is in none of them.
            _ = try bench.send(.lend("book \(steps)"), after: 1)
            let backgroundJobs = bench.takeBackgroundJobs().filter { !$0.isDigest }
            steps += backgroundJobs.count
            #expect(backgroundJobs.count <= 1)
            for job in backgroundJobs {
                let result = job.run()
                let out = bench.turn { $0.receive(result) }
                // The first part goes to who has asked for it before it was there.
                parts += replies(out).compactMap { if case .statePart(let part) = $0 { part } else { nil } }
            }
            if let last = parts.last, last.end != .state {
                parts += bench.ask(.stateRequest(transfer: last.transfer, part: last.part + 1, form: .chunks))
                    .compactMap { if case .statePart(let part) = $0 { part } else { nil } }
            }
        }
        #expect(steps > 4)
        #expect(parts.map(\.part) == Array(0..<UInt64(parts.count)))
        var chunk: [UInt8] = []
        for part in parts {
            #expect(part.bytes.count <= 40)
            chunk += part.bytes
            guard part.end != .nothing else { continue }
            if assembled == nil { assembled = try AssembledState(manifest: chunk) } else { try assembled?.add(chunk) }
            chunk = []
        }
        let back = try assembled?.state()
        #expect(back == state)
        // Another one, a little later, gets what is encoded already.
        #expect(bench.ask(.stateRequest(transfer: 0, part: 0, form: .chunks)) == [.statePart(parts[0])])
        let others = bench.takeBackgroundJobs().filter { !$0.isDigest }
        #expect(others.isEmpty)
    }

    @Test func `a delta that would grow too large for a message leaves before its time`() throws {
        var bench = LibraryBench(following: [delta]) { $0.stateBytesMax = 1000 }
        _ = bench.turn()
        // The first one tells how much an event adds.
        #expect(try bench.send(.shelve("a book with a title of some length", 0)).deltas(on: delta).count == 1)
        var count = 0
        for number in 0..<40 {
            count += try bench.send(.shelve("a book with a title of some length \(number)", 1), after: 1).deltas(
                on: delta
            )
            .count
        }
        // 40 ms, and an update comes every 100 ms.
        #expect((2...10).contains(count))
        #expect(bench.ask(.stateRequest(transfer: 0, part: 0)).count == 1)
    }

    @Test func `streams beyond the limit are counted and not served`() throws {
        let streams = (0..<70).map { UpdateStream(.full, interval: 1 + $0) }
        var bench = LibraryBench(following: streams)
        _ = bench.turn()
        let out = try bench.send(.visit, after: 1000)
        #expect(streams.prefix(64).allSatisfy { out.published(on: $0).count == 1 })
        #expect(streams.suffix(6).allSatisfy { out.published(on: $0).isEmpty })
        #expect(bench.machine.counters[.updateStreamsFull] == 6)
    }

    @Test func `a section is fetched by its name, and an unknown name is answered with those that there are`() throws {
        var bench = LibraryBench()
        _ = try bench.send(.shelve("Emma", 1))
        let bytes = try CBOR.encode(bench.state.books)
        #expect(
            bench.ask(.stateRequest(transfer: 0, part: 0, section: "books")) == [
                .statePart(
                    StatePart(transfer: 1, seq: Seq(1), part: 0, end: .state, bytes: bytes))
            ])
        let refused = bench.ask(.stateRequest(transfer: 0, part: 0, section: "cellar"))
        #expect(
            refused == [
                .refused(Refused(.section, reducer: "\"books\", \"visits\"", peer: "cellar"), to: .state(transfer: 0))
            ])
        #expect(
            Refused(.section, reducer: "\"books\", \"visits\"", peer: "cellar").description
                == "this loop has no section \"cellar\" of its state; it has \"books\", \"visits\"")
    }
}

@Suite struct `G9 transitions for people` {
    private func seqs(_ messages: [ToPeer]) -> [UInt64] {
        messages.flatMap { message -> [UInt64] in
            if case .transitions(let notes) = message { notes.map(\.seq.value) } else { [] }
        }
    }

    @Test func `have every event while someone follows them`() throws {
        var bench = LibraryBench()
        #expect(try bench.send(.visit).published(on: .transitions(LibraryBench.loop)) == [])
        bench.subscriptions.hasTransitions = true
        _ = bench.turn()
        #expect(seqs(try bench.send(.visit, .visit).published(on: .transitions(LibraryBench.loop))) == [2, 3])
        bench.subscriptions.hasTransitions = false
        _ = bench.turn()
        #expect(try bench.send(.visit).published(on: .transitions(LibraryBench.loop)) == [])
    }
}

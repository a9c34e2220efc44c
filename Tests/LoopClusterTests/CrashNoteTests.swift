import LoopCollections
import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `A crash note` {
    private let batch = { (bench: ReducerBench, session: SessionID) throws -> Batch in
        bench.batch(session, from: 1, [try bench.event(.mine(1))])
    }

    @Test func `of a process that ended elsewhere says nothing`() throws {
        var first = try MinedReducer()
        let session = first.bench.join(client, capacity: 0)
        _ = try first.bench.send(session, from: 1, .note, .mine(1))
        let second = try MinedReducer(replaying: first.bench.records, image: first.memory.note.bytes)
        #expect(second.finding == .nothing)
    }

    @Test func `blames no entry for a fault of another thread`() throws {
        var first = try MinedReducer()
        let session = first.bench.join(client, capacity: 0)
        let durable = first.bench.records
        _ = first.bench.push(try batch(first.bench, session))
        let image = NoteMemory(try #require(first.memory.image))
        image.fault(4, thread: 78)
        let second = try MinedReducer(replaying: durable, image: image.note.bytes)
        #expect(second.finding == .fault(signal: 4, onReducerThread: false))
        #expect(second.memory.note.suspects == [])
        image.fault(4, thread: 77)
        let third = try MinedReducer(replaying: durable, image: image.note.bytes)
        #expect(third.memory.note.suspects.map(\.crashes) == [1])
    }

    @Test func `names the query that runs, for another thread`() throws {
        struct Two: LoopDefinition {
            static let name = "two"
            enum Event: Codable { case add(Int) }
            let initial = 0
            /// Called in each query.
            let looks: @Sendable () -> Void
            func reduce(into state: inout Int, _ event: Event, _: Transition) {
                looks()
                if case .add(let number) = event { state += number }
            }
            var feedbacks: [Feedback<Int, Event>] {
                ["first", "second"].map { name in
                    .react(name) { state -> Int? in
                        looks()
                        return state
                    } effect: { _ in
                        .none
                    }
                }
            }
        }
        let note = CrashNote()
        let seen = Locked([CrashNote.Step?]())
        var state: any LoopState = DefinedState(
            Two(looks: { seen.withLock { $0.append(note.present) } }), coder: CBORCoder())
        state.beginQueries([0, 1])
        let bytes = try CBORCoder().encode(Two.Event.add(1))[...]
        note.enter(SessionID(1), 1, nil, bytes)
        var changes: [EffectChange] = []
        let transition = Transition(seq: Seq(1), time: WallTime(milliseconds: 0), seed: 1)
        try state.apply(bytes, from: nil, LoopStep(transition: transition, note: note), into: &changes)
        #expect(
            seen.withLock { $0 } == [
                CrashNote.Step(phase: .reducing, event: "add", query: 0),
                CrashNote.Step(phase: .query, event: "add", query: 0),
                CrashNote.Step(phase: .query, event: "add", query: 1),
            ])
        #expect(note.present == nil && changes.count == 2)
    }

    @Test func `of another history is void, and so are foreign bytes`() throws {
        var first = try MinedReducer()
        let session = first.bench.join(client, capacity: 0)
        _ = first.bench.push(try batch(first.bench, session))
        let image = try #require(first.memory.image)
        let other = NoteMemory(image)
        #expect(other.note.begin(history: History(5), executable: 1, thread: 77) == .nothing)
        let foreign = NoteMemory(Array(repeating: 0xaa, count: CrashNote.byteCount))
        #expect(foreign.note.begin(history: History(5), executable: 1, thread: 77) == .nothing)
        #expect(foreign.note.suspects == [])
        #expect(NoteMemory(image).note.begin(history: ReducerBench.history, executable: 1, thread: 77) != .nothing)
    }

    @Test func `has room for a number of suspects, and forgets the oldest`() throws {
        var reducer = try MinedReducer()
        let sessions = (1...UInt64(CrashNote.suspectsMax + 2)).map {
            reducer.bench.join(PeerID(high: 1, low: $0), capacity: 0)
        }
        for (number, session) in sessions.enumerated() {
            let mine = try reducer.bench.event(.mine(number + 1))
            reducer = try reducer.dyingAnew(of: reducer.bench.batch(session, from: 1, [mine]))
        }
        #expect(reducer.memory.note.suspects.map(\.session) == Array(sessions.dropFirst(2)))
    }

    @Test func `of a replay that ended by a fault stops the same build, and lets another one try`() throws {
        let image = try dyingInReplay()
        image.fault(4, thread: 77)
        let stopped = image.note.begin(history: ReducerBench.history, executable: 1, thread: 77)
        let crash = try #require(stopped.replayCrash)
        #expect(crash.seq == Seq(2) && crash.phase == .reducing && crash.mustStop)
        #expect(image.note.begin(history: ReducerBench.history, executable: 1, thread: 77) == stopped)
        let other = image.note.begin(history: ReducerBench.history, executable: 2, thread: 77)
        #expect(other.replayCrash?.mustStop == false)
        #expect(image.note.suspects == [])
        #expect(image.note.begin(history: ReducerBench.history, executable: 2, thread: 77) == .nothing)
    }

    @Test func `of a replay that was killed stops it only at the third time at one event`() throws {
        var findings: [Bool?] = []
        var image = try dyingInReplay()
        for _ in 0..<4 {
            let finding = image.note.begin(history: ReducerBench.history, executable: 1, thread: 77)
            findings.append(finding.replayCrash?.mustStop)
            if finding.replayCrash?.mustStop == false { image = try dyingInReplay(image.note.bytes) }
        }
        #expect(findings == [false, false, true, true])
    }

    /// What is left of a process that dies when it replays the second event.
    private func dyingInReplay(_ image: [UInt8]? = nil) throws -> NoteMemory {
        var first = try MinedReducer()
        let session = first.bench.join(client, capacity: 0)
        _ = try first.bench.send(session, from: 1, .note, .mine(1))
        let memory = image.map { NoteMemory($0) } ?? NoteMemory()
        if image == nil {
            _ = memory.note.begin(history: ReducerBench.history, executable: 1, thread: 77)
        }
        _ = try ReducerBench(
            replaying: first.bench.records, note: memory.note, onMine: { memory.freeze() })
        return NoteMemory(try #require(memory.image))
    }
}

extension CrashFinding {
    var replayCrash: ReplayCrash? { if case .replay(let crash) = self { crash } else { nil } }
}

extension MinedReducer {
    /// As `dying(of:)`; every peer is in again.
    func dyingAnew(of batch: Batch) throws -> MinedReducer {
        var next = try dying(of: batch)
        for (_, record) in next.bench.machine.journaled.sessions.sorted(by: { $0.key < $1.key }) {
            next.bench.join(record.peer, capacity: 0)
        }
        return next
    }
}

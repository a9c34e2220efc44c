import CBOR
import LoopCluster
import LoopCore
import LoopWire

/// An input to begin with: what our own code writes. Kept as a file of the corpus, and made again by the tests.
package struct FuzzSeed: Sendable {
    package let name: String
    package let bytes: [UInt8]

    init(_ name: String, _ bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }
}

extension FuzzTarget {
    /// The seeds that code makes; those of the coder's targets are the vectors of its tests.
    package func seeds() throws -> [FuzzSeed] {
        switch name {
        case "documents": try Self.documentSeeds()
        case "peer-messages":
            Samples.toReducer.map { FuzzSeed($0.name, $0.message.bytes(loop: ReducerRun.loop)) }
        case "reducer-messages":
            Samples.toPeer.map { FuzzSeed($0.name, $0.frame.bytes(topic: nil)) }
                + Samples.topics.map { FuzzSeed("under \($0.name)", Samples.toPeer[0].frame.bytes(topic: $0.topic)) }
        case "batches":
            [FuzzSeed("batch", Samples.batch.bytes), FuzzSeed("failure", Samples.failure.bytes)]
        case "deltas":
            try Shelf.later.map {
                FuzzSeed($0.name, try Delta.encode(since: DeltaBase(of: Shelf.sample), to: $0.shelf))
            }
        case "pieces": try Self.chunkSeeds()
        case "pages": Self.pageSeeds()
        case "records": Samples.records.map { FuzzSeed($0.name, Samples.bytes([$0.record])) }
        case "replay": try Self.history().map { FuzzSeed($0.name, Samples.bytes($0.records)) }
        case "snapshots":
            try Self.history().map { FuzzSeed($0.name, try $0.state.snapshot()) }
        case "crash-notes": Self.noteSeeds()
        case "rows": Self.rowSeeds()
        case "files": Self.fileSeeds()
        case "outbox": Self.outboxSeeds()
        case "certificates": try Self.certificateSeeds()
        case "key-folders": try Self.keyFolderSeeds()
        case "reducer": try Self.reducerSeeds()
        case "peer": Self.peerSeeds()
        case "observer": try Self.observerSeeds()
        default: []
        }
    }

    private static func documentSeeds() throws -> [FuzzSeed] {
        var run = try ReducerRun()
        try run.join(PeerID(high: 0, low: 1), capacity: 4)
        try run.say(.statusRequest, from: PeerID(high: 0, low: 1))
        var seeds: [FuzzSeed] = []
        for case .reply(_, let frame) in run.said {
            if case .status(let document) = frame.message { seeds.append(FuzzSeed("status", document)) }
        }
        for (name, request) in Samples.requests { seeds.append(FuzzSeed(name, try CBOR.encode(request))) }
        for (name, answer) in Samples.answers { seeds.append(FuzzSeed(name, try CBOR.encode(answer))) }
        return seeds
    }

    /// Runs of a reducer: what they journal, and the state that they end with.
    private static func history() throws -> [(name: String, records: [Record], state: JournaledState)] {
        var short = try ReducerRun()
        try short.join(PeerID(high: 0, low: 1), capacity: 4)
        var long = short
        let session = try long.join(PeerID(high: 0, low: 2), capacity: 0)
        try long.send(
            [.plant("fern", 2), .weather("rain"), .shed(Allotment.Shed(shelves: [1: "pots", 2: "rope"]))], session)
        try long.send([.call("hello"), .dig("rose"), .sleep, .plant("oak", 3)], session)
        try long.turn(after: 500)
        try long.turn(after: 6000)
        var ended = long
        try ended.send([.shed(nil), .weather(nil), .leave], session)
        return [("short", short), ("long", long), ("ended", ended)].map { ($0.0, $0.1.records, $0.1.machine.journaled) }
    }

    private static func noteSeeds() -> [FuzzSeed] {
        // Kinds: nothing, an entry, an entry of an effect, a replay.
        (0...3).map { (kind: UInt64) in
            let words: [UInt64] = [
                0x4c6f_6f70_4e6f_7401, 0x4c4f_4f50, 7, 9, 4 << 32 | 9, kind, 2, 5, 1, 0, 1, 0, 3, 2, 3, 1,
                1, 2 | 1 << 8, 5, 1, 0, 1, 0, 1,
            ]
            var writer = ByteWriter()
            for word in words { writer.u64(word) }
            return FuzzSeed("kind \(kind)", writer.bytes)
        }
    }

    private static func rowSeeds() -> [FuzzSeed] {
        var sound = FuzzScript()
        for count: UInt8 in 1...3 {
            sound.byte(JournalForgery.Step.row.rawValue)
            sound.byte(count)
            sound.byte(0)
            sound.chunk(
                Samples.bytes((0..<count).map { .skipped(SessionID(UInt64($0)), number: UInt64(count)) }))
        }
        sound.byte(JournalForgery.Step.row.rawValue)
        sound.byte(1)
        sound.byte(1)
        sound.chunk(Samples.bytes([Samples.records[0].record]))
        var trimmed = FuzzScript()
        for (name, number) in [(0, 4), (1, 2), (2, 77), (3, 4), (4, 1), (5, 1), (6, 1)] as [(UInt8, UInt64)] {
            trimmed.byte(JournalForgery.Step.meta.rawValue)
            trimmed.byte(name)
            trimmed.number(number)
        }
        var changed = sound
        changed.byte(JournalForgery.Step.changedRow.rawValue)
        changed.byte(0x3f)
        changed.byte(1)
        changed.byte(0)
        changed.chunk(Samples.bytes([Samples.records[3].record]))
        for number: UInt64 in [7, 8, 2, 1, 4, 99] { changed.number(number) }
        changed.byte(JournalForgery.Step.snapshot.rawValue)
        for number: UInt64 in [3, 1, 7, 100, 5] { changed.number(number) }
        return [
            FuzzSeed("sound", sound.bytes), FuzzSeed("trimmed", trimmed.bytes), FuzzSeed("changed", changed.bytes),
        ]
    }

    private static func fileSeeds() -> [FuzzSeed] {
        // The size of a page, the number of pages, the application ID, the schema, the first page of a table.
        [
            ("sound", []), ("header", [16, 28, 68]), ("schema", [100, 103, 8100]),
            ("pages", [8192, 16384, 16500, 24600]),
        ].map {
            (name: String, places: [UInt64]) in
            var script = FuzzScript()
            for place in places {
                script.number(place)
                script.chunk([0xff, 0x01])
            }
            return FuzzSeed(name, script.bytes)
        }
    }

    private static func outboxSeeds() -> [FuzzSeed] {
        var entries = FuzzScript()
        for number: UInt64 in [4, 5, 7] {
            var writer = ByteWriter()
            Entry(kind: .event, payload: [1, 2], wantsSeq: number == 5).write(to: &writer)
            entries.byte(OutboxForgery.Step.entry.rawValue)
            entries.number(number)
            entries.chunk(writer.bytes)
        }
        var columns = FuzzScript()
        for column in OutboxForgery.columns.indices {
            columns.byte(OutboxForgery.Step.stream.rawValue)
            columns.byte(UInt8(column))
            columns.number(1)
        }
        var bytes = FuzzScript()
        for place: UInt64 in [16, 100, 4096, 8190] {
            bytes.byte(OutboxForgery.Step.bytes.rawValue)
            bytes.number(place)
            bytes.chunk([0xff, 0x01])
        }
        return [
            FuzzSeed("sound", []), FuzzSeed("entries", entries.bytes), FuzzSeed("columns", columns.bytes),
            FuzzSeed("bytes", bytes.bytes),
        ]
    }

    private static func reducerSeeds() throws -> [FuzzSeed] {
        var script = FuzzScript()
        script.byte(0)
        func say(_ message: ToReducer, route: UInt8 = 1) {
            script.byte(ReducerStep.control.rawValue)
            script.byte(route)
            script.chunk(message.bytes(loop: ReducerRun.loop))
        }
        let (worker, sender) = (PeerID(high: 0, low: 1), PeerID(high: 0, low: 2))
        let epoch = Epoch(number: 1, nonce: 7)
        say(.hello(name: Allotment.name, schema: 2))
        say(.join(ReducerRun.joinRequest(worker, capacity: 4)))
        say(.claim(SessionID(1), epoch, []))
        say(.join(ReducerRun.joinRequest(sender, capacity: 0)), route: 2)
        say(.claim(SessionID(2), epoch, []), route: 2)
        let joined = script
        for (number, events) in [
            (1, [.plant("fern", 2), .weather("rain")]), (3, [.call("hello"), .dig("rose")]),
        ] as [(UInt64, [Allotment.Event])] {
            script.byte(ReducerStep.batch.rawValue)
            let entries = try events.map { Entry(kind: .event, payload: try CBOR.encode($0)[...], wantsSeq: true) }
            script.chunk(
                Batch(
                    loop: ReducerRun.loop, history: ReducerRun.history, session: SessionID(2), settled: 0, applied: 0,
                    first: number, entries: entries
                ).bytes)
        }
        let sent = script
        let beds = EffectID(feedback: 0, seq: .initial, index: 0)
        for kind: Entry.Kind in [.failed, .completed, .released] {
            script.byte(ReducerStep.batch.rawValue)
            let entry = Entry(
                kind: kind, effect: beds, attempt: Attempt(epoch: 1, count: 1), payload: Samples.failure.bytes[...])
            script.chunk(
                Batch(
                    loop: ReducerRun.loop, history: ReducerRun.history, session: SessionID(1), settled: 0, applied: 2,
                    first: 1, entries: [entry]
                ).bytes)
            script.byte(ReducerStep.wait.rawValue)
            script.byte(20)
        }
        say(
            .heartbeat(
                Heartbeat(session: SessionID(1), epoch: epoch, echo: 10_000, applied: 3, settled: 1, capacity: 4)))
        say(.outcomesRequest(SessionID(2), after: 0), route: 2)
        say(.stateRequest(transfer: 0, part: 0), route: 3)
        say(.statusRequest, route: 3)
        for (_, request) in Samples.requests {
            say(.administration(request: 9, try CBOR.encode(request)[...]), route: 3)
        }
        script.byte(ReducerStep.newHistory.rawValue)
        script.byte(4)
        say(.goodbye(SessionID(2), sender, ReducerRun.history), route: 2)
        return [FuzzSeed("joined", joined.bytes), FuzzSeed("sent", sent.bytes), FuzzSeed("all", script.bytes)]
    }

    private static func peerSeeds() -> [FuzzSeed] {
        var script = FuzzScript()
        script.byte(0)
        func hear(_ step: PeerRun.Step, _ message: ToPeer) {
            script.byte(step.rawValue)
            script.chunk(Samples.frame(message).bytes(topic: nil))
        }
        hear(.reply, Samples.introduction)
        hear(.published, Samples.welcome)
        hear(.reply, .assignments(Assignments(number: 0, watermark: 0, grants: [Samples.grant])))
        let joined = script
        for (step, byte) in [(.send, 1), (.push, 0), (.end, 0), (.push, 1), (.push, 0), (.keep, nil)]
            as [(PeerRun.Step, UInt8?)]
        {
            script.byte(step.rawValue)
            if let byte { script.byte(byte) }
            if step == .send { script.chunk([1, 2, 3]) }
        }
        hear(.published, .tick(Tick(number: 1, watermark: 1, received: 1, stamp: 5, resend: true)))
        hear(.published, .refusalDetails([RefusalDetail(number: 2, text: "at beds: expected a map, found 7")]))
        hear(.published, .acknowledgement(Samples.acknowledgement))
        hear(.published, .commands(number: 1, Samples.commands))
        script.byte(PeerRun.Step.wait.rawValue)
        script.byte(80)
        hear(.reply, .outcomes(Samples.acknowledgement))
        script.byte(PeerRun.Step.stop.rawValue)
        hear(.published, .ended(at: Seq(41), exitCode: 0, text: "done"))

        var resumed = FuzzScript()
        resumed.byte(1)
        for number: UInt64 in [0xabcd, 3, 0xdead, 11, 0, 8, 16] { resumed.number(number) }
        var entries = ByteWriter()
        for entry in Samples.batch.entries { entry.write(to: &entries) }
        resumed.chunk(entries.bytes)
        return [
            FuzzSeed("joined", joined.bytes), FuzzSeed("all", script.bytes), FuzzSeed("resumed", resumed.bytes),
        ]
    }

    private static func observerSeeds() throws -> [FuzzSeed] {
        let first = Allotment.State(beds: ["rose": 1])
        var second = first
        second.beds["fern"] = 2
        let states = [first, second, Allotment.State(beds: ["fern": 3], weather: "rain")]
        let encoded = try states.map { try CBOR.encode($0) }
        var whole = FuzzScript()
        whole.byte(0)
        func hear(_ step: ObserverRun.Step, _ message: ToPeer, _ script: inout FuzzScript) {
            script.byte(step.rawValue)
            script.chunk(Samples.frame(message).bytes(topic: nil))
        }
        func state(_ seq: UInt64, _ bytes: [UInt8]) -> ToPeer {
            .statePart(
                StatePart(transfer: 1, seq: Seq(seq), part: 0, end: .state, bytes: bytes))
        }
        for part: UInt64 in [0, 1] {
            hear(
                .reply,
                .statePart(
                    StatePart(
                        transfer: 1, seq: Seq(7), part: part, end: part == 0 ? .nothing : .state, bytes: [1, 2])),
                &whole)
        }
        hear(.published, .update(Seq(8), state: encoded[0]), &whole)
        hear(.published, .transitions(Samples.notes), &whole)
        hear(.published, .serverHeartbeat(Seq(12)), &whole)
        whole.byte(ObserverRun.Step.wait.rawValue)
        whole.byte(10)
        hear(.reply, .busy(to: .state(transfer: 0), retryAfter: .seconds(1), reason: "full"), &whole)
        hear(.published, .ended(at: Seq(41), exitCode: 0, text: "done"), &whole)

        var differences = FuzzScript()
        differences.byte(4)
        hear(.reply, state(7, encoded[0]), &differences)
        for (base, seq) in [(7, 8), (9, 10), (8, 9)] as [(UInt64, UInt64)] {
            let (old, new) = (states[Int(base - 7) % 3], states[Int(seq - 7) % 3])
            hear(
                .published,
                .delta(
                    StateDelta(
                        base: Seq(base)...Seq(base), seq: Seq(seq), hash: StableHash.fnv1a(try CBOR.encode(new)),
                        bytes: try Delta.encode(since: DeltaBase(of: old), to: new))), &differences)
        }
        for part: UInt64 in [0, 1] {
            hear(
                .reply,
                .statePart(
                    StatePart(
                        transfer: 2, seq: Seq(11), part: part, end: part == 0 ? .chunk : .state,
                        bytes: part == 0 ? encoded[0] : [0x80])), &differences)
        }
        hear(.published, .unchanged(Seq(8)...Seq(12)), &differences)
        hear(.published, .stateHash(Seq(12), 1), &differences)
        hear(.reply, state(12, encoded[2]), &differences)
        return [FuzzSeed("all", whole.bytes), FuzzSeed("differences", differences.bytes)]
    }
}

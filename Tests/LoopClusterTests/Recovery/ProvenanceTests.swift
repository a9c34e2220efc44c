import LoopCluster
import LoopCore
import LoopKeys
import LoopWire
import Testing

/// Lamps that a client lights and notes, and a worker that darkens one.
private func conversation() throws -> (rows: FollowedRows, bench: ReducerBench, grant: Grant) {
    var bench = try ReducerBench()
    let worker = bench.join(alice)
    let sender = bench.join(client, capacity: 0)
    _ = try bench.send(sender, from: 1, .note)
    let grant = try #require(try bench.send(sender, from: 2, .light("a", 5)).grants.first)
    _ = try bench.push(
        bench.batch(worker, from: 1, [bench.event(.darken("a"), of: (grant.effect, grant.attempt))]))
    _ = try bench.send(sender, from: 3, .note, .note)
    let rows = FollowedRows()
    rows.append(bench.records)
    return (rows, bench, grant)
}

@Suite struct `The origin of an event` {
    private func origin(_ seq: UInt64, _ rows: FollowedRows, keys: AllowedKeys = .none) throws -> EventOrigin {
        try EventOrigin(of: Seq(seq), in: rows, feedbacks: ["lamps", "siren"], keys: keys)
    }

    @Test func `is the peer whose session sent it`() throws {
        let (rows, _, _) = try conversation()
        let origin = try origin(1, rows)
        #expect(origin.event.seq == 1 && origin.event.kind == "event")
        #expect(origin.peer == "\(client)")
        #expect((origin.key, origin.feedback, origin.cause?.seq) == (nil, nil, nil))
    }

    @Test func `is also the effect that sent it, and the event whose transition asked for that`() throws {
        let (rows, _, grant) = try conversation()
        let origin = try origin(3, rows)
        #expect(origin.event.effect == "\(grant.effect)")
        #expect(origin.feedback == "lamps")
        #expect(origin.peer == "\(alice)")
        #expect(origin.cause?.seq == 2 && origin.cause?.session == 2)
    }

    @Test func `names the key of the peer, or shows the key if it is not admitted any more`() throws {
        let (rows, bench, _) = try conversation()
        let owner = try PublicKey(z85: "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7")
        let sender = bench.records.compactMap { record -> SessionID? in
            if case .sessionOpened(let session, client) = record { session } else { nil }
        }
        var event: EventRecord?
        for case .event(let record) in bench.records where record.seq == Seq(5) { event = record }
        var next = try #require(event)
        (next.seq, next.number) = (Seq(6), 6)
        rows.append([.sessionOwned(try #require(sender.first), owner), .event(next)])
        #expect(try origin(6, rows).key == "\(owner)")
        let keys = AllowedKeys([AllowedKey(owner, name: "till-1", roles: [.sender])])
        #expect(try origin(6, rows, keys: keys).key == "till-1")
    }

    @Test func `is not known if its session was opened before the records that are left`() throws {
        let (_, bench, _) = try conversation()
        let rows = FollowedRows()
        let index = try #require(
            bench.records.firstIndex { if case .event(let event) = $0 { event.seq == Seq(2) } else { false } })
        rows.append(Array(bench.records[...index]))
        rows.append(Array(bench.records[(index + 1)...]))
        rows.trim(1, keeping: [], seq: Seq(2), fingerprint: 0)
        let origin = try origin(3, rows)
        #expect((origin.peer, origin.cause?.seq) == (nil, nil))
        #expect(origin.feedback == "lamps")
        #expect(throws: JournalError.self) { try self.origin(2, rows) }
    }

    @Test func `is known if its session was opened after the records that were trimmed`() throws {
        let (_, bench, _) = try conversation()
        let rows = FollowedRows()
        rows.append(bench.records)
        var event: EventRecord?
        for case .event(let record) in bench.records { event = record }
        var next = try #require(event)
        (next.seq, next.session, next.number) = (Seq(6), SessionID(9), 1)
        rows.append([.sessionOpened(SessionID(9), bob), .event(next)])
        rows.trim(1, keeping: [], seq: Seq(5), fingerprint: 0)
        #expect(try origin(6, rows).peer == "\(bob)")
    }

    @Test(arguments: [0, 6]) func `is refused for a seq without an event`(seq: UInt64) throws {
        let (rows, _, _) = try conversation()
        let error = #expect(throws: JournalError.self) { try origin(seq, rows) }
        #expect(error?.kind == .misuse)
    }
}

@Suite struct `The changes of a part of the state` {
    private func changes(
        _ path: [String], before: UInt64? = nil, max: Int = 10, _ rows: FollowedRows
    ) throws -> (seqs: [UInt64], values: [[UInt8]], from: UInt64, reason: String?) {
        let found = try PartChanges(
            of: StateSelection(path: path), before: before.map(Seq.init), max: max, in: rows, Lamps(),
            coder: CBORCoder())
        return (found.changes.map(\.event.seq), found.changes.map(\.value), found.from.value, found.reason)
    }

    @Test func `are the transitions that changed it, the newest first, with the value after each`() throws {
        let (rows, _, _) = try conversation()
        let notes = try changes(["notes"], rows)
        #expect(notes.seqs == [5, 4, 1])
        #expect(notes.values == [[3], [2], [1]])
        #expect(notes.from == 0)
        let lamp = try changes(["burning", "a"], rows)
        #expect(lamp.seqs == [3, 2])
        #expect(lamp.values == [[], [5]])
        #expect(try changes(["isOver"], rows).seqs == [])
    }

    @Test func `are at most as many as were asked for, and the search continues where it ended`() throws {
        let (rows, _, _) = try conversation()
        let first = try changes(["notes"], max: 2, rows)
        #expect(first.seqs == [5, 4] && first.from == 3 && first.reason == nil)
        let next = try changes(["notes"], before: first.from + 1, rows)
        #expect(next.seqs == [1] && next.from == 0)
        #expect(try changes(["notes"], before: 1, rows).seqs == [])
        #expect(try changes(["notes"], before: 99, rows).seqs == [5, 4, 1])
    }

    @Test func `are found from the newest snapshot on, and what was trimmed is not compared`() throws {
        let (_, bench, _) = try conversation()
        let index = try #require(
            bench.records.firstIndex { if case .event(let event) = $0 { event.seq == Seq(3) } else { false } })
        var core = JournaledState(definition: Lamps(), coder: CBORCoder(), history: ReducerBench.history)
        for record in bench.records[...index] { try core.apply(record) }
        let (snapshot, fingerprint) = (try core.snapshot(), DefinitionFingerprint(of: Lamps()).value)
        let rows = FollowedRows()
        rows.append(Array(bench.records[...index]))
        rows.append(Array(bench.records[(index + 1)...]))
        rows.list(snapshot, at: core.position, seq: core.seq, fingerprint: fingerprint)
        #expect(try changes(["notes"], rows).seqs == [5, 4, 1])
        let newest = try changes(["notes"], max: 1, rows)
        #expect(newest.seqs == [5] && newest.from == 4)
        rows.trim(1, keeping: snapshot, seq: core.seq, fingerprint: fingerprint)
        let left = try changes(["notes"], rows)
        #expect(left.seqs == [5, 4] && left.from == 3)
        #expect(left.reason?.hasPrefix("the first events were trimmed") == true)
    }

    @Test func `are refused for a part that no state has, with what there is instead`() throws {
        let (rows, _, _) = try conversation()
        let error = #expect(throws: StateSelectionError.self) { try changes(["note"], rows) }
        // The error describes the newest state, in which there is more to choose from.
        let lamp = #expect(throws: StateSelectionError.self) { try changes(["notes", "x"], before: 5, rows) }
        #expect(lamp?.description == "there is no \"x\" at notes: it is a single value")
        #expect(error?.description.hasPrefix("there is no \"note\" at the top: it has ") == true)
    }

    @Test func `leave out values that an answer has no room for`() throws {
        var bench = try ReducerBench()
        let sender = bench.join(client, capacity: 0)
        let name = String(repeating: "a", count: 400_000)
        for index in 1...12 { _ = try bench.send(sender, from: UInt64(index), .light("\(index)\(name)", index)) }
        let rows = FollowedRows()
        rows.append(bench.records)
        let found = try PartChanges(
            of: StateSelection(path: ["burning"]), before: nil, max: 20, in: rows, Lamps(), coder: CBORCoder())
        #expect(found.changes.count == 12)
        #expect(found.changes[0].valueBytes > 4_800_000 && found.changes[0].value.isEmpty)
        let included = found.changes.filter { !$0.value.isEmpty }
        #expect(!included.isEmpty && included.allSatisfy { $0.value.count == $0.valueBytes })
        #expect(included.reduce(0) { $0 + $1.valueBytes } <= 4 << 20)
    }
}

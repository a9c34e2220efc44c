import CBOR
import LoopCluster
import LoopCore
import LoopWire
import Testing

/// Lamps that a client lights and notes, and a worker that darkens one. The events have the seqs 1 to 5.
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
    for record in bench.records { rows.append([record]) }
    return (rows, bench, grant)
}

@Suite struct `What a transition changed` {
    private func step(_ seq: UInt64, _ rows: FollowedRows) throws -> StateStep {
        try StateStep(of: Seq(seq), in: rows, Lamps(), coder: CBORCoder())
    }

    @Test func `is the parts of the state that differ, with both values`() throws {
        let (rows, _, _) = try conversation()
        let step = try step(5, rows)
        #expect(step.changes == [StateStep.Change(path: ["notes"], old: [2], new: [3])])
        #expect(!step.areChangesCut && step.effects.isEmpty)
    }

    @Test func `is also the effects that it started and cancelled`() throws {
        let (rows, _, grant) = try conversation()
        let lit = try step(2, rows)
        #expect(lit.changes.map(\.path) == [["burning", "a"]])
        #expect(lit.changes.map(\.old) == [[]] && lit.changes.map(\.newBytes) == [1])
        #expect(lit.effects.map(\.effect) == ["\(grant.effect)"])
        #expect(lit.effects.map(\.kind) == [.started] && lit.effects.map(\.feedback) == ["lamps"])
        let dark = try step(3, rows)
        #expect(dark.effects.map(\.kind) == [.cancelled])
        #expect(dark.effects.map(\.request) == lit.effects.map(\.request))
    }

    @Test func `is refused for a seq that the journal has not reached`() throws {
        let (rows, _, _) = try conversation()
        #expect(throws: RecoveryError.endsBefore(Seq(6), at: Seq(5))) { try step(6, rows) }
    }
}

@Suite struct `A page of what a filter selects` {
    private func page(
        _ filter: HistoryFilter, from: UInt64 = 0, through: UInt64? = nil, before: UInt64? = nil, _ rows: FollowedRows
    ) throws -> HistoryPage {
        try HistoryPage(
            of: rows, from: Seq(from), through: through.map(Seq.init), before: before, matching: filter)
    }

    @Test func `has the newest first, and goes on before its position`() throws {
        let (rows, _, _) = try conversation()
        let first = try page(HistoryFilter(kind: "event", max: 2), rows)
        #expect(first.records.map(\.seq) == [5, 4])
        let next = try page(HistoryFilter(kind: "event", max: 2), before: first.next, rows)
        #expect(next.records.map(\.seq) == [3, 2])
        let last = try page(HistoryFilter(kind: "event", max: 2), before: next.next, rows)
        #expect(last.records.map(\.seq) == [1] && last.next == nil)
    }

    @Test func `has the events of a case, a session, an effect and a text`() throws {
        let (rows, _, grant) = try conversation()
        func seqs(_ filter: HistoryFilter) throws -> [UInt64] { try page(filter, rows).records.map(\.seq) }
        #expect(try seqs(HistoryFilter(kind: "event", event: "note", max: 9)) == [5, 4, 1])
        #expect(try seqs(HistoryFilter(kind: "event", session: 1, max: 9)) == [3])
        #expect(try seqs(HistoryFilter(kind: "event", effect: "\(grant.effect)", max: 9)) == [3])
        #expect(try seqs(HistoryFilter(kind: "event", text: "LIGHT", max: 9)) == [2])
        #expect(try seqs(HistoryFilter(effect: "\(grant.effect)", max: 9)) == [3, 2])
    }

    @Test func `keeps to its range of seqs, and every record has the seq that it belongs to`() throws {
        let (rows, _, _) = try conversation()
        #expect(
            try page(HistoryFilter(kind: "event", max: 9), from: 2, through: 4, rows).records.map(\.seq) == [4, 3, 2])
        let all = try page(HistoryFilter(max: 2000), rows).records
        let plain = try HistoryPage(of: rows, from: Seq(0)).records
        #expect(all == plain.reversed())
    }

    @Test func `has the records before the first event where that is asked for, unless they were trimmed`() throws {
        let (rows, _, _) = try conversation()
        let first = try HistoryPage(of: rows, from: Seq(0), through: Seq(0)).records
        #expect(!first.isEmpty && first.allSatisfy { $0.seq == 0 && $0.kind != "event" })
        rows.trim(9, keeping: [], seq: Seq(5), fingerprint: 0)
        let error = #expect(throws: JournalError.self) {
            try HistoryPage(of: rows, from: Seq(0), through: Seq(0))
        }
        #expect(error?.kind == .trimmed)
    }

    @Test func `ends at the oldest record that was not trimmed`() throws {
        let (rows, _, _) = try conversation()
        rows.trim(9, keeping: [], seq: Seq(5), fingerprint: 0)
        let page = try page(HistoryFilter(kind: "event", max: 9), rows)
        #expect(page.next == nil && !page.records.isEmpty && page.records.count < 5)
    }
}

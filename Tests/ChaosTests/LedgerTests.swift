import CBOR
import LoopCore
import LoopNode
import LoopWire
import Testing

@testable import LoopExamples

@Suite struct `The ledger` {
    private func state(_ events: Ledger.Event...) -> LedgerState {
        var state = Ledger(folder: "/pages").initial
        for event in events { Ledger().reduce(&state, event) }
        return state
    }

    private func deposit(_ number: UInt64) -> Ledger.Event {
        .deposit(number: number, work: .init(milliseconds: 5, failures: 1))
    }

    @Test func `asks for a booking of what is open, and no longer`() {
        #expect(
            state(deposit(1)).open[1] == .init(deposit: 1, folder: "/pages", work: .init(milliseconds: 5, failures: 1)))
        let booked = state(deposit(1), .begun(deposit: 1, slip: 7), .booked(deposit: 1, slip: 7))
        #expect(booked.open.isEmpty && booked.slips.isEmpty && booked.isSound)
        #expect(booked.booked.contains(1) && booked.received.contains(1))
        let cancelled = state(deposit(1), .begun(deposit: 1, slip: 7), .cancel(number: 2, deposit: 1))
        #expect(cancelled.open.isEmpty && cancelled.slips.isEmpty && cancelled.isSound)
        #expect(cancelled.cancelled.contains(1) && cancelled.received.count == 2)
    }

    @Test func `an event that is applied twice shows`() {
        #expect(state(deposit(1), deposit(1)).doubles == 1)
        #expect(state(deposit(1), .cancel(number: 2, deposit: 1), .cancel(number: 2, deposit: 1)).doubles == 1)
        #expect(state(deposit(1), .begun(deposit: 1, slip: 7), .begun(deposit: 1, slip: 7)).doubles == 1)
        #expect(!state(deposit(1), deposit(1)).isSound)
    }

    @Test func `an event of a deposit that was cancelled or booked shows`() {
        let cancelled = state(deposit(1), .cancel(number: 2, deposit: 1), .begun(deposit: 1, slip: 7))
        #expect(cancelled.stale == 1 && !cancelled.isSound)
        let late = state(
            deposit(1), .begun(deposit: 1, slip: 7), .cancel(number: 2, deposit: 1), .booked(deposit: 1, slip: 7))
        #expect(late.stale == 1 && !late.booked.contains(1))
        let twice = state(
            deposit(1), .begun(deposit: 1, slip: 7), .booked(deposit: 1, slip: 7), .booked(deposit: 1, slip: 7))
        #expect(twice.stale == 1)
    }

    @Test func `two attempts at once show, one after the other do not`() {
        let after = state(
            deposit(1), .begun(deposit: 1, slip: 7), .begun(deposit: 1, slip: 8), .booked(deposit: 1, slip: 8))
        #expect(after.isSound && after.resumed == 1)
        let between = state(
            deposit(1), .begun(deposit: 1, slip: 7), .begun(deposit: 1, slip: 8), .booked(deposit: 1, slip: 7))
        #expect(between.torn == 1 && !between.isSound)
        #expect(state(deposit(1), .booked(deposit: 1, slip: 7)).torn == 1)
    }

    @Test func `an event of a deposit that never came in shows, a late cancellation is no fault`() {
        #expect(state(.cancel(number: 2, deposit: 1)).missing == 1)
        #expect(state(.booked(deposit: 1, slip: 7)).missing == 1)
        let late = state(
            deposit(1), .begun(deposit: 1, slip: 7), .booked(deposit: 1, slip: 7), .cancel(number: 2, deposit: 1))
        #expect(late.late == 1 && late.isSound)
    }

    @Test func `asks for as many held effects as it was told last, by the same requests while that stays`() {
        let requests = HeldRequests()
        let three = state(.hold(count: 3))
        #expect(requests.all(of: three).keys.sorted() == [1, 2, 3])
        #expect(requests.all(of: three)[3] == .init(number: 3, folder: "/pages"))
        #expect(requests.all(of: state(.hold(count: 3), .hold(count: 1))).keys.sorted() == [1])
        #expect(requests.all(of: state(.hold(count: 3), .hold(count: 0))).isEmpty)
        #expect(state(.hold(count: -1)).held == 0 && state(.hold(count: .max)).held == Ledger.heldMax)
        #expect(requests.all(of: Ledger(folder: "/other").initial).isEmpty)
    }

    @Test func `what a holder starts is counted from its file`() throws {
        let folder = try TemporaryFolder("holder")
        defer { folder.remove() }
        let page = HolderPage.ofThisProcess(in: folder.path)
        for number: UInt64 in [1, 2, 1] { try page.append(number) }
        #expect(TemporaryFolder.names(in: folder.path).allSatisfy(HolderPage.isNamed))
        #expect(try page.starts() == [1: 2, 2: 1])
        try LedgerPage.append("x\n", to: page.path)
        #expect(throws: LedgerPage.Unreadable.self) { try page.starts() }
    }

    @Test func `numbers are kept as ranges, whatever their order`() {
        var set = NumberSet()
        for number: UInt64 in [5, 1, 3, .max, 4, 0, 2] {
            let isNew = set.insert(number)
            #expect(isNew)
        }
        #expect(set.ranges == [0...5, .max ... .max])
        for number: UInt64 in [0, 3, 5, .max] {
            let isNew = set.insert(number)
            #expect(!isNew && set.contains(number))
        }
        #expect(!set.contains(6) && set.count == 7)
    }

    @Test func `a set of ranges is the set of its numbers`() {
        var random = SystemRandomNumberGenerator()
        var set = NumberSet()
        var model: Set<UInt64> = []
        for _ in 0..<2000 {
            let number = UInt64.random(in: 0..<1500, using: &random)
            let isNew = set.insert(number)
            #expect(isNew == model.insert(number).inserted)
        }
        #expect(set.count == model.count)
        #expect(Set(set.ranges.joined()) == model)
        #expect(zip(set.ranges, set.ranges.dropFirst()).allSatisfy { $0.upperBound + 1 < $1.lowerBound })
    }

    @Test(arguments: [[], [0], [5, 6, 9], [0, 1, .max], [.max], [1, 3, 5, 7]] as [[UInt64]])
    func `a set of numbers is read as it was stored`(numbers: [UInt64]) throws {
        let set = NumberSet(numbers)
        #expect(try CBOR.decode(NumberSet.self, from: CBOR.encode(set)) == set)
    }

    @Test(arguments: [[1], [1, 2, 1, 0], [1, 2, 0, 0], [.max, 1], [1, .max], [.max, 0, 2, 0]] as [[UInt64]])
    func `what is no set of numbers is not read`(distances: [UInt64]) throws {
        let bytes = try CBOR.encode(distances)
        #expect(throws: (any Error).self) { try CBOR.decode(NumberSet.self, from: bytes) }
    }

    @Test func `a thousand deposits, each tenth cancelled, are a state of a few hundred bytes`() throws {
        var state = Ledger(folder: "/pages").initial
        for number in UInt64(1_000_000_001)...1_000_001_000 {
            Ledger().reduce(&state, deposit(number))
            Ledger().reduce(&state, .begun(deposit: number, slip: number))
            let isCancelled = number % 10 == 0
            Ledger().reduce(
                &state,
                isCancelled
                    ? .cancel(number: number + 500_000_000, deposit: number) : .booked(deposit: number, slip: number))
        }
        #expect(state.isSound && state.booked.count == 900 && state.cancelled.count == 100)
        #expect(try CBOR.encode(state).count < 1200)
    }

    @Test func `its definition is the same for a reducer and a worker`() {
        #expect(Ledger().feedbacks.map(\.name) == Ledger(folder: "/x").feedbacks.map(\.name))
        #expect(Ledger().feedbacks.map(\.placement) == [.workers, .workers(group: Ledger.holders)])
    }

    @Test(arguments: [
        LedgerPage.Note.begun(failures: 3), .written, .booked(.init(12)), .refused("stale"),
    ])
    func `a page's line reads as it was written`(note: LedgerPage.Note) {
        let line = LedgerPage.Line(key: "ledger/ab/0.1.0", slip: 0xfeed, note: note)
        #expect(LedgerPage.Line(Substring(line.description)) == line)
    }

    @Test(arguments: ["", "a b", "k xyz written", "k 1 done", "k 1 written now", "k 1 booked"])
    func `a line that no clerk wrote is none`(text: String) { #expect(LedgerPage.Line(Substring(text)) == nil) }
}

extension Ledger {
    /// A ledger uses nothing of the transition.
    func reduce(_ state: inout LedgerState, _ event: Event) {
        reduce(into: &state, event, Transition(seq: .initial, time: WallTime(milliseconds: 0), seed: 0))
    }
}

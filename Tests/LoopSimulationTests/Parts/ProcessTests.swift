import LoopCluster
import LoopCore
import LoopWire
import Testing

@testable import LoopSimulation

@Suite struct `The processes of a simulated cluster` {
    private typealias Peer = SimulatedPeer<Int>

    private func peer(_ role: Peer.Role, _ slot: Int, in roster: inout Roster<Int>) -> Peer {
        let id = PeerID(high: 1, low: UInt64(roster.nextIndex))
        let machine = PeerMachine(
            configuration: PeerConfiguration(peer: id, loop: "parts"), at: MonotonicTime(nanoseconds: 0))
        let peer = Peer(index: roster.nextIndex, slot: slot, role: role, machine: machine, clockOffset: 5, at: 0)
        roster.add(peer)
        return peer
    }

    @Test func `are forgotten once the reducer has read everything of those that are gone`() {
        var roster = Roster<Int>()
        let (first, second) = (peer(.worker, 0, in: &roster), peer(.worker, 1, in: &roster))
        first.sockets[0].dealer.toReducer.append(.statusRequest, arrival: 0)
        first.life.stage = .gone
        roster.forgetTheGone()
        #expect(roster.present.count == 2)
        #expect(roster.living.map(\.index) == [1])
        _ = first.sockets[0].dealer.toReducer.popFirst()
        roster.forgetTheGone()
        #expect(roster.present.map(\.index) == [1])
        #expect(roster[0] == nil)
        #expect(roster[1] === second)
        #expect(roster.workerSlotCount == 2)
        #expect(roster.nextIndex == 2)
    }

    @Test func `are replaced where they have left for an end that is lost`() {
        var roster = Roster<Int>()
        let first = peer(.client, 3, in: &roster)
        #expect(roster.unaware === first)
        roster.depart(first)
        #expect(roster.unaware == nil)
        #expect(roster.takeDeparted().map(\.slot) == [3])
        #expect(roster.takeDeparted().isEmpty)
    }

    @Test func `count as gone from the last word that is read of them`() {
        var roster = Roster<Int>()
        let first = peer(.client, 0, in: &roster)
        roster.noteRead(of: first, at: 5)
        #expect(roster.goneAt.isEmpty)
        roster.noteKilled(first, at: 10)
        roster.noteRead(of: first, at: 20)
        #expect(roster.goneAt == [first.id: 20])
    }

    @Test func `have one local peer, which ends with the reducer's process`() {
        var roster = Roster<Int>()
        let local = peer(.local, 0, in: &roster)
        #expect(roster.local === local)
        let forgotten = roster.forgetLocal()
        #expect(forgotten === local)
        #expect(!local.isAlive)
        #expect(roster.present.isEmpty)
        #expect(roster.local == nil)
    }

    @Test func `claim nothing in one epoch, and everything in the next`() {
        var faults = PeerFaults()
        #expect(faults.forgets(in: Epoch(number: 1, nonce: 1)) == false)
        faults.forgetsClaims = true
        #expect(faults.forgets(in: Epoch(number: 2, nonce: 1)) == true)
        #expect(faults.forgets(in: Epoch(number: 2, nonce: 1)) == true)
        #expect(faults.forgets(in: Epoch(number: 3, nonce: 1)) == false)
        #expect(faults.forgets(in: Epoch(number: 2, nonce: 1)) == false)
    }

    @Test func `remember the least that each history says of its end`() {
        var ends = HeardEnds()
        for (history, seq, time) in [(1, 9, 1), (2, 4, 2), (1, 7, 3)] as [(UInt64, UInt64, UInt64)] {
            let message = ToPeer.ended(at: Seq(seq), exitCode: 0, text: "")
            ends.note(
                PeerFrame(history: History(history), epoch: .none, session: .none, message: message), at: time)
        }
        #expect(ends[History(1)]?.seq == Seq(7))
        #expect(ends[History(1)]?.at == 1)
        #expect(ends[History(2)]?.seq == Seq(4))
        #expect(ends[History(3)] == nil)
    }

    @Test func `have accounts that count what is sent again, also after their numbers begin again`() {
        var accounts = OutboxAccounts()
        for id in 11...13 { accounts.accept(id) }
        func batch(_ first: UInt64, _ count: Int) -> Batch {
            Batch(
                loop: LoopID(name: "parts"), history: History(1), session: SessionID(1), settled: 0, applied: 0,
                first: first, entries: [Entry](repeating: Entry(kind: .event), count: count))
        }
        #expect(accounts.send(batch(1, 2)) == 0)
        #expect(accounts.send(batch(2, 2)) == 1)
        #expect(accounts.tell(2) == 12)
        #expect(accounts.tell(2) == nil)
        #expect(accounts.settle(upTo: 3) == [11, 13])
        accounts.restart(settled: 0)
        #expect(accounts.last == 0)
        #expect(accounts.send(batch(1, 3)) == 3)
    }

    @Test func `meet at the agenda in the order of their times, and of their notes`() {
        var agenda = Agenda()
        agenda.note(.clientEvent(1), at: 20)
        agenda.note(.clientEvent(2), at: 10)
        agenda.note(.clientEvent(3), at: 10)
        var seen: [String] = []
        while let task = agenda.next() { seen.append("\(task) at \(agenda.now), \(agenda.tasksAtOnce) before") }
        #expect(
            seen == [
                "clientEvent(2) at 10, 0 before", "clientEvent(3) at 10, 1 before", "clientEvent(1) at 20, 0 before",
            ])
    }
}

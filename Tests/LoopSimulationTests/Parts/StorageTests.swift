import LoopCluster
import LoopCore
import LoopWire
import Testing

@testable import LoopSimulation

@Suite struct `A simulated disk` {
    private let session = Record.sessionOpened(SessionID(1), PeerID(high: 0, low: 1))

    private func skipped(_ number: UInt64) -> Record { .skipped(SessionID(1), number: number) }

    private func refused(_ reason: SendRefusal.Reason) -> Record {
        .refused(RefusalRecord(session: SessionID(1), number: 1, reason: reason, effect: nil, attempt: .none))
    }

    private func ended(_ cause: AttemptEnd.Cause) -> Record {
        let effect = EffectID(feedback: 0, seq: Seq(1), index: 0)
        return .attemptEnded(
            AttemptEnd(effect: effect, upTo: Attempt(epoch: 1, count: 1), cause: cause, next: .parked))
    }

    @Test func `loses what was not synced, and keeps what was`() throws {
        let disk = SimulatedDisk(history: History(1), alwaysSyncs: false)
        disk.append([session], isSynced: true)
        disk.append([skipped(1), skipped(2)], isSynced: false)
        #expect(disk.losePower(behind: 0) == [skipped(1), skipped(2)])
        #expect(disk.records == [session])
    }

    @Test func `gives back what an older copy lacks, unless a history was begun since`() {
        var storage = Storage()
        storage.begin(History(1), alwaysSyncs: true)
        storage.disk?.append([session], isSynced: true)
        #expect(storage.restoreCopy() == nil)
        storage.disk?.makeCopy()
        storage.disk?.append([skipped(1)], isSynced: true)
        #expect(storage.restoreCopy() == 1)
        #expect(storage.isRestored)
        #expect(storage.takeMissing() == [skipped(1)])
        #expect(storage.takeMissing() == nil)
        let begun = Record.historyBegun(History(2), WallTime(milliseconds: 0))
        storage.disk?.append([begun], isSynced: true)
        storage.note(begun)
        #expect(storage.history == History(2))
        #expect(!storage.isRestored)
        #expect(storage.restoreCopy() == nil)
    }

    @Test func `fails one append, or all while it is full`() {
        var faults = DiskFaults()
        faults.isNextFailing = true
        #expect(faults.takeFailure(at: 0) == .failedDisk)
        #expect(faults.takeFailure(at: 0) == nil)
        faults.fullUntil = 10
        #expect(faults.takeFailure(at: 9) == .full)
        #expect(faults.takeFailure(at: 10) == nil)
    }

    @Test func `loses quietly only turns of the wanted kind that give out no number`() {
        let event = AwaitedLoss(of: .attemptEnd, endsAgain: false)
        #expect(event.covers([skipped(1), ended(.unresponsive)]))
        #expect(!event.covers([ended(.failed)]))
        #expect(!event.covers([ended(.unresponsive), session]))
        #expect(!AwaitedLoss(of: .refusal, endsAgain: false).covers([refused(.attempt)]))
    }

    @Test func `tears an append after the first entry that is refused for its attempt`() {
        let loss = AwaitedLoss(of: .refusal, endsAgain: false)
        #expect(loss.lengthWhereTorn([skipped(1), refused(.attempt), skipped(2)]) == 2)
        #expect(loss.lengthWhereTorn([skipped(1), refused(.attempt)]) == nil)
        #expect(loss.lengthWhereTorn([refused(.tooLarge), skipped(1)]) == nil)
        #expect(AwaitedLoss(of: .event, endsAgain: false).lengthWhereTorn([refused(.attempt), session]) == nil)
    }
}

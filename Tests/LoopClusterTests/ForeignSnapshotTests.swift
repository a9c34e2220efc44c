import Foundation
import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

/// The checksum of a snapshot is right, and its state is another one than the journal says.
@Suite struct `A snapshot that is listed for another record` {
    @Test(arguments: [-2, -1, 1] as [Int]) func `is not taken, and the records are`(distance: Int) throws {
        var bench = try ReducerBench()
        let session = bench.join(PeerID(high: 0, low: 1))
        for number in 1...3 as ClosedRange<UInt64> { _ = try bench.send(session, from: number, .note) }
        let core = bench.machine.journaled
        // A record behind the state, so that the snapshot may be listed for that one too.
        _ = try bench.send(session, from: 4, .note)
        let path = NSTemporaryDirectory() + "foreign-snapshot-\(UUID().uuidString)"
        defer { for ending in ["", "-wal", "-shm", "-lock"] { unlink(path + ending) } }
        defer { try? FileManager.default.removeItem(atPath: path + ".snapshots") }
        let journal = try SQLiteJournal.open(
            path, loop: Lamps.name, durability: .os, newHistory: ReducerBench.history)
        defer { journal.close() }
        _ = try journal.append(bench.records, through: UInt64(bench.records.count))
        let listed = UInt64(Int(core.position) + distance)
        let write = try #require(journal.snapshotWriter)
        try journal.add(
            write(SnapshotEntry(position: listed, seq: core.seq, fingerprint: 0), core.snapshot()))
        let recovery = try Recovery(Lamps(), from: journal, coder: CBORCoder(), through: core.seq)
        #expect(recovery.snapshot == nil)
        #expect(
            recovery.notes == [
                "the snapshot at seq \(core.seq) cannot be used: it is damaged, it is of record "
                    + "\(core.position), seq \(core.seq), and is listed for record \(listed)"
            ])
        #expect(recovery.journaled.seq == core.seq)
    }
}

import Foundation
import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

/// The power fails at every single change that a journal makes to its files.
@Suite struct `G7 what was acknowledged outlives a loss of power` {
    /// What a run did, and what it had appended in all, acknowledged or not.
    struct Run {
        var operations: [Operation]
        var records: [Record]
        var snapshots: [SnapshotEntry]
    }

    private let folder: Folder
    private let recorder: Recorder

    init() throws {
        folder = try Folder(inMemory: true)
        recorder = Recorder(folder.path)
    }

    private func open(_ durability: Durability) throws(JournalError) -> SQLiteJournal {
        try SQLiteJournal.open(
            folder.journal, loop: "test", durability: durability, newHistory: Examples.history, whileLocked: nil,
            layer: recorder.layer)
    }

    /// Appends of all sizes, snapshots, trimming, a log that is brought into the file, stops good and bad.
    private func run(_ durability: Durability, failingSyncs: Bool = false) throws -> Run {
        defer { recorder.end() }
        var seq: UInt64 = 0
        var records: [Record] = []
        var snapshots: [SnapshotEntry] = []
        var random = SeededRandom(seed: 11)
        for start in 0..<(failingSyncs ? 8 : 4) {
            if failingSyncs {
                // An opening may fail too, where it syncs so often.
                recorder.failSync(after: start % 3)
                do throws(JournalError) { try open(durability).abandon() } catch { #expect(error.kind == .failedDisk) }
                recorder.failSync(after: .max)
            }
            let journal = try open(durability)
            let kept = try journal.all(after: journal.position(before: .initial))
            // A batch that failed may be there or not; nothing else may differ.
            let missing = records.count - Int(journal.position)
            #expect(missing >= 0 && kept.elementsEqual(records.dropLast(missing).suffix(kept.count)))
            records.removeLast(missing)
            seq =
                records.reversed().lazy.compactMap { if case .event(let event) = $0 { event.seq.value } else { nil } }
                .first ?? 0
            recorder.record(.acknowledged(records.count))
            if failingSyncs { recorder.failSync(after: start * 3) }
            do throws(JournalError) {
                for batch in 0..<6 {
                    var more: [Record] = []
                    for _ in 0..<[1, 3, 1, 40, 2, 1][batch] {
                        seq += 1
                        more.append(.event(Examples.event(seq, bytes: Int.random(in: 0...400, using: &random))))
                    }
                    more.append(.skipped(SessionID(2), number: seq))
                    records += more
                    _ = try journal.append(more, through: UInt64(records.count))
                    recorder.record(.acknowledged(records.count))
                    if batch % 3 == 2, let write = journal.snapshotWriter {
                        let entry = try write(
                            SnapshotEntry(position: journal.position, seq: Seq(seq), fingerprint: 5),
                            Self.content(journal.position))
                        try journal.add(entry)
                        snapshots.append(entry)
                        recorder.record(.snapshots(snapshots.count))
                        if start == 2 { _ = try journal.trim(before: Seq(seq / 2)) }
                    }
                }
            } catch {
                #expect(failingSyncs && error.kind == .failedDisk, "\(error)")
            }
            // A good end; after a failure or without one that of a process that is killed: nothing more is written.
            if start % 2 == 0 { journal.close() } else { journal.abandon() }
        }
        return Run(operations: recorder.operations, records: records, snapshots: snapshots)
    }

    private static func content(_ position: UInt64) -> [UInt8] {
        (0..<3000).map { UInt8(truncatingIfNeeded: $0 &+ Int(position)) }
    }

    /// Cuts the run before each of its operations, recovers what may be there, and looks at it.
    /// - Returns: what was wrong, and where.
    private func cut(
        _ run: Run, _ durability: Durability, _ lucks: [ModelDisk.Luck], seed: UInt64
    ) throws -> [String] {
        var random = SeededRandom(seed: seed)
        var disk = ModelDisk(root: folder.path)
        var acknowledged = 0
        var added = 0
        var faults: [String] = []
        let found = try Folder(inMemory: true)
        for (number, operation) in run.operations.enumerated() {
            for luck in lucks {
                let place = "cut before operation \(number), \(luck)"
                for name in found.names { try found.remove(name) }
                for (path, bytes) in disk.afterPowerLoss(luck, &random) where !path.hasSuffix("-lock") {
                    try found.restore(bytes, String(path.dropFirst(folder.path.count + 1)))
                }
                do {
                    let wrong = try check(
                        found, run, atLeast: durability == .fsync ? acknowledged : 0,
                        durability == .fsync ? run.snapshots.prefix(added) : [], goesOn: luck == .some)
                    faults += wrong.map { "\(place): \($0)" }
                } catch {
                    faults.append("\(place): \(error)")
                }
            }
            switch operation {
            case .acknowledged(let count): acknowledged = count
            case .snapshots(let count): added = count
            default: disk.apply(operation)
            }
        }
        return faults
    }

    private func check(
        _ found: Folder, _ run: Run, atLeast acknowledged: Int, _ snapshots: ArraySlice<SnapshotEntry>, goesOn: Bool
    ) throws -> [String] {
        var faults: [String] = []
        let journal = try Examples.open(found.journal)
        defer { journal.close() }
        let position = Int(journal.position)
        if position < acknowledged { faults.append("\(position) of \(acknowledged) records are there") }
        let base = Int(try journal.position(before: .initial))
        let records = try journal.all(after: UInt64(base))
        if base + records.count != position
            || !records.elementsEqual(run.records.dropFirst(base).prefix(position - base))
        {
            faults.append("the records are not those that were appended")
        }
        let listed = try journal.snapshots()
        for entry in listed where try journal.content(of: entry) != Self.content(entry.position) {
            faults.append("the snapshot at \(entry.position) is not what was written")
        }
        // The newest that was added is there, or newer ones.
        if let newest = snapshots.last, listed.first.map({ $0.position < newest.position }) ?? true {
            faults.append("the newest snapshot is \(String(describing: listed.first))")
        }
        // What is trimmed is covered.
        if base > 0, listed.count < 2 { faults.append("trimmed to \(base), and \(listed.count) snapshots") }
        guard goesOn else { return faults }
        // It goes on, and the remains of what was torn do not come back.
        _ = try journal.append([.skipped(SessionID(9), number: 1)], through: UInt64(position) + 1)
        journal.close()
        let again = try Examples.open(found.journal)
        defer { again.close() }
        if again.position != UInt64(position) + 1 || !again.openReport.isEmpty {
            faults.append("opened again at \(again.position): \(again.openReport)")
        }
        return faults
    }

    @Test func `with fsync, at every change`() throws {
        let run = try run(.fsync)
        #expect(run.operations.count > 300)
        let wrong = try cut(run, .fsync, [.none, .some], seed: 1)
        #expect(wrong == [])
    }

    @Test func `with fsync, at every change, also where syncs fail`() throws {
        let run = try run(.fsync, failingSyncs: true)
        #expect(run.operations.count { if case .failedSync = $0 { true } else { false } } >= 8)
        let wrong = try cut(run, .fsync, [.none, .some], seed: 2)
        #expect(wrong == [])
    }

    /// With `os` the newest may be lost, but what is there is what was appended, and it starts.
    @Test func `with os there is a beginning of what was appended`() throws {
        let run = try run(.os)
        let wrong = try cut(run, .os, [.all, .some], seed: 3)
        #expect(wrong == [])
    }

    /// A session's or an epoch's number that a reducer has given out must never mean another one, whatever is promised of other
    /// records. What was appended before it is safe with it.
    @Test func `a number that was given out is there, with everything before it`() throws {
        defer { recorder.end() }
        let journal = try open(.os)
        defer { journal.abandon() }
        var records: [Record] = []
        var random = SeededRandom(seed: 5)
        let givers: [Record] = [
            .epochBegun(Epoch(number: 1, nonce: 9), Examples.time),
            .sessionOpened(SessionID(1), PeerID(high: 1, low: 2)),
            .historyBegun(History(5), Examples.time),
        ]
        for (index, giver) in givers.enumerated() {
            for more in [[Record.event(Examples.event(UInt64(index + 1)))], [giver]] {
                records += more
                _ = try journal.append(more, through: UInt64(records.count))
            }
            var disk = ModelDisk(root: folder.path)
            for operation in recorder.operations { disk.apply(operation) }
            let found = try Folder(inMemory: true)
            for (path, bytes) in disk.afterPowerLoss(.none, &random) where !path.hasSuffix("-lock") {
                try found.restore(bytes, String(path.dropFirst(folder.path.count + 1)))
            }
            let again = try Examples.open(found.journal, .os)
            #expect(try again.all() == records)
            again.close()
        }
    }

    /// The model itself: without syncs nothing is kept.
    @Test func `which a disk without syncs would not give`() throws {
        var run = try run(.fsync)
        run.operations.removeAll { if case .sync = $0 { true } else { false } }
        #expect(try cut(run, .fsync, [.none], seed: 4).contains { $0.hasSuffix("records are there") })
    }
}

extension Folder {
    /// Writes a file, and the folder that it is in.
    func restore(_ bytes: [UInt8], _ name: String) throws {
        let file = path + "/" + name
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        // A folder of the model has no bytes, and is there already by its files, or empty.
        if name.hasSuffix(".snapshots") {
            try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: true)
        } else {
            try write(bytes, to: name)
        }
    }
}

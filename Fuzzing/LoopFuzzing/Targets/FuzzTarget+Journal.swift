import CBOR
import LoopCluster
import LoopCore
import LoopJournal
import LoopWire

extension FuzzTarget {
    /// The records of a row. They have one spelling, so that what is read is written as it was.
    static let records = FuzzTarget("records", budget: AllocationBudget(perByte: 512)) { bytes in
        var records: [Record] = []
        do throws(WireError) {
            try Record.read(bytes[...], into: &records)
        } catch {
            try checkBounded(error)
        }
        var again: [UInt8] = []
        for record in records { record.write(to: &again) }
        try require(bytes.starts(with: again), "\(records) are written in another way than they were")
    }

    /// A journal that is replayed as far as it goes. A snapshot of what came of it restores the same, and a reducer goes on
    /// from it.
    static let replay = FuzzTarget("replay", budget: AllocationBudget(fixed: 1 << 20, perByte: 4096)) { bytes in
        var reader = ByteReader(bytes)
        var state = Allotment.empty
        state.reinterprets = .always
        while !reader.isAtEnd, let record = try? Record(from: &reader) {
            guard (try? state.apply(record)) != nil else { return }
        }
        try checkSnapshot(state)
        try goOn(from: state)
    }

    /// A snapshot whose lengths and checksum were made to fit, so that what is behind them is read.
    static let snapshots = FuzzTarget("snapshots", budget: AllocationBudget(fixed: 1 << 20, perByte: 4096)) { bytes in
        let document = SnapshotRepair.repaired(bytes)
        let state: JournaledState
        do throws(SnapshotError) {
            state = try JournaledState(restoring: document, definition: Allotment(), coder: CBORCoder())
        } catch {
            try require(error.description.utf8.count <= 8192, "an error of \(error.description.utf8.count) bytes")
            return
        }
        try checkSnapshot(state)
        try goOn(from: state)
    }

    /// What a process that ended has left in its note.
    static let notes = FuzzTarget("crash-notes") { bytes in
        try withNote(bytes) { note in
            let history = History(0x4c4f_4f50)
            let first = note.begin(history: history, executable: 7, thread: 9)
            try require(note.suspects.count <= CrashNote.suspectsMax, "\(note.suspects.count) suspects")
            if case .suspect(let suspect) = first {
                try require(note.suspects.contains(suspect), "\(suspect) is blamed, and not noted")
            }
            // A process that did nothing is blamed for nothing.
            if case .replay(let crash) = first, crash.mustStop { return }
            let second = note.begin(history: history, executable: 7, thread: 9)
            try require(second == .nothing, "\(second) after \(first), where nothing was done")
            var state = Allotment.empty
            state.note = note
            var machine = ReducerMachine(
                recovered: state, configuration: ReducerConfiguration(), seed: 1, nonce: 1, at: .at(1))
            let ready = machine.turn(at: .at(1))
            let position = ready.position
            _ = machine.release(ready, JournalReceipt(through: position))
        }
    }

    /// A write-ahead log that SQLite will read after us.
    static let logs = FuzzTarget("logs") { bytes in
        var rest = bytes[...]
        let log = try LogInspection { count in
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        try require(log.validPages * 512 <= bytes.count, "\(log.validPages) pages in \(bytes.count) bytes")
    }
}

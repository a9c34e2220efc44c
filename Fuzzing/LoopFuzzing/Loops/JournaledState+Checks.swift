import LoopCluster
import LoopCore
import LoopWire

extension Allotment {
    /// A journal in which there is nothing.
    static var empty: JournaledState {
        JournaledState(definition: Allotment(), coder: CBORCoder(), history: ReducerRun.history)
    }
}

extension FuzzTarget {
    /// A snapshot restores what it is of, and the same snapshot is made of that.
    static func checkSnapshot(_ state: JournaledState) throws {
        // Where another definition's queries are still the ones that count there is none.
        guard let document = try? state.snapshot(), let restored = try restored(document) else { return }
        let differences = try restored.differences(from: state)
        // A definition whose form has changed since takes over by its record only.
        guard let again = try? restored.snapshot() else { return }
        try require(differences.isEmpty, "a snapshot restores other \(differences.joined(separator: ", "))")
        try require(again == document, "a snapshot of what a snapshot restored is another one")
    }

    private static func restored(_ document: [UInt8]) throws -> JournaledState? {
        do throws(SnapshotError) {
            return try JournaledState(restoring: document, definition: Allotment(), coder: CBORCoder())
        } catch {
            // Numbers that no journal reaches are not taken up again.
            if error == .corrupt("its numbers are too large") { return nil }
            throw FuzzFinding("a snapshot that was just made: \(error)")
        }
    }

    /// A reducer begins an epoch on what was recovered, lets a peer in, and applies an event.
    static func goOn(from state: JournaledState) throws {
        var run = try ReducerRun(recovered: state)
        try run.join(PeerID(high: 0, low: 1), capacity: 4)
        let session = try run.join(PeerID(high: 0, low: 2), capacity: 0)
        try run.send([.plant("fern", 2), .dig("rose")], session)
        try run.turn(after: 4000)
        try checkSnapshot(run.machine.journaled)
    }
}

/// Makes the length and the checksum of a snapshot fit the bytes between them.
enum SnapshotRepair {
    static func repaired(_ document: [UInt8]) -> [UInt8] {
        var bytes = document
        // "LOOPSNAP", format, the count of the name's bytes.
        guard bytes.count >= 14 else { return document }
        let name = bytes[10..<14].reversed().reduce(0) { $0 << 8 | Int($1) }
        let length = 14 + name + 48
        guard length + 16 <= bytes.count else { return document }
        write(UInt64(bytes.count - length - 16), at: length, in: &bytes)
        write(StableHash.fnv1a(bytes.dropLast(8)), at: bytes.count - 8, in: &bytes)
        return bytes
    }

    private static func write(_ number: UInt64, at offset: Int, in bytes: inout [UInt8]) {
        for place in 0..<8 { bytes[offset + place] = UInt8(truncatingIfNeeded: number >> UInt64(8 * place)) }
    }
}

/// A crash note with these bytes in it, as far as they go.
func withNote(_ bytes: [UInt8], _ body: (CrashNote) throws -> Void) rethrows {
    let note = CrashNote()
    let known = bytes.prefix(CrashNote.byteCount)
    note.bytes = known + [UInt8](repeating: 0, count: CrashNote.byteCount - known.count)
    try body(note)
}

package import LoopCluster
internal import LoopCore

/// The files of a journal's snapshots. A file under its final name has all its bytes. It counts once the journal has a row for it.
struct SnapshotFolder: Sendable {
    let path: String
    let disk: Disk

    /// The name has the position and the checksum, so that two snapshots at one position have different names.
    static func name(_ entry: SnapshotEntry) -> String {
        let digits = String(entry.checksum, radix: 16)
        return "\(entry.position)-" + String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// The position in the file name of a snapshot, finished or not, or nil if it is no such name.
    private static func position(_ name: String) -> UInt64? {
        let parts = name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count == 2, (1...20).contains(parts[0].count) else { return nil }
        let (digits, hexadecimal) = (Set("0123456789".utf8), Set("0123456789abcdef".utf8))
        let ending = parts[1].dropFirst(8)
        guard parts[0].allSatisfy(digits.contains), parts[1].count >= 8,
            parts[1].prefix(8).allSatisfy(hexadecimal.contains),
            ending.isEmpty || ending.elementsEqual(".new".utf8)
        else { return nil }
        return UInt64(Substring(parts[0]))
    }

    /// The files of snapshots, finished or not, in the order of their positions.
    func found() throws(JournalError) -> [(name: String, position: UInt64)] {
        try disk.names(in: path).compactMap { name in Self.position(name).map { (name, $0) } }
            .sorted { $0.position < $1.position }
    }

    /// Renames files so that the journal ignores them, and keeps them.
    func setAside(_ names: [String]) throws(JournalError) {
        for name in names { try disk.rename(path + "/" + name, to: path + "/" + name + ".lost") }
        if !names.isEmpty { try disk.syncFolder(path) }
    }

    /// Writes the bytes under a temporary name, syncs them, renames, and syncs the folder.
    func write(_ entry: SnapshotEntry, _ bytes: [UInt8]) throws(JournalError) -> SnapshotEntry {
        var entry = entry
        entry.byteCount = bytes.count
        entry.checksum = entry.sum(of: bytes)
        let name = Self.name(entry)
        let temporary = path + "/" + name + ".new"
        do throws(JournalError) {
            try disk.makeFolder(path)
            try disk.write(bytes, to: temporary)
            try disk.rename(temporary, to: path + "/" + name)
            try disk.syncFolder(path)
            try disk.syncFolder(Disk.folder(of: path))
        } catch {
            // The error may be a lack of space.
            try? disk.removeInSteps(temporary)
            throw error
        }
        return entry
    }

    func content(of entry: SnapshotEntry) throws(JournalError) -> [UInt8] {
        let file = path + "/" + Self.name(entry)
        let operation = "read the snapshot of seq \(entry.seq)"
        let remedy = "put a copy of it back"
        let found: [UInt8]?
        do throws(JournalError) {
            // Checks the size before any memory is allocated, so that the file's size cannot decide how much.
            found = try disk.reading(file) { descriptor, size throws(JournalError) in
                guard size == entry.byteCount else {
                    throw JournalError(
                        .corrupt, operation: operation,
                        reason: "\(file) has \(size) bytes instead of \(entry.byteCount)", remedy: remedy)
                }
                return try disk.bytes(of: descriptor, size, file)
            }
        } catch {
            guard error.kind == .foreign else { throw error }
            throw JournalError(.corrupt, operation: operation, reason: error.reason, remedy: remedy)
        }
        guard let bytes = found else {
            throw JournalError(.corrupt, operation: operation, reason: "\(file) is not there", remedy: remedy)
        }
        guard entry.sum(of: bytes) == entry.checksum else {
            throw JournalError(
                .corrupt, operation: operation, reason: "the bytes of \(file) are not those that were written",
                remedy: remedy)
        }
        return bytes
    }

    /// Removes files that are no snapshot of the journal, left by a process that ended while it wrote one. A file with another kind
    /// of name is not the journal's, and stays. While a listed snapshot is damaged, finished files stay, too.
    /// - Returns: the names of the removed files.
    func removeOthers(than entries: [SnapshotEntry]) throws(JournalError) -> [String] {
        let kept = Set(entries.map(Self.name))
        var others = try found().map(\.name).filter { !kept.contains($0) }
        if others.contains(where: { !$0.hasSuffix(".new") }),
            !entries.allSatisfy({ (try? content(of: $0)) != nil })
        {
            others.removeAll { !$0.hasSuffix(".new") }
        }
        for name in others { try disk.remove(path + "/" + name) }
        return others
    }
}

extension SnapshotEntry {
    /// A snapshot as a journal lists it, or nil if a number is impossible.
    package init?(listedAt position: Int64, seq: Int64, fingerprint: Int64, byteCount: Int64, checksum: Int64) {
        guard let position = UInt64(exactly: position), let seq = UInt64(exactly: seq),
            let byteCount = Int(exactly: byteCount), let checksum = UInt32(exactly: checksum)
        else { return nil }
        self.init(
            position: position, seq: Seq(seq), fingerprint: UInt64(bitPattern: fingerprint), byteCount: byteCount,
            checksum: checksum)
    }

    /// The checksum of the bytes, the position, the seq and the fingerprint.
    package func sum(of bytes: [UInt8]) -> UInt32 {
        var sum = Checksum()
        sum.add(position)
        sum.add(seq.value)
        sum.add(fingerprint)
        sum.add(bytes.span)
        return sum.value
    }
}

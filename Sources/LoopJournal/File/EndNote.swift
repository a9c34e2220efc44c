internal import Glibc
internal import Linux
internal import LoopCluster
internal import LoopWire

/// A file next to a journal with the position of its newest record. It is written after each row, and not synced.
///
/// The system keeps the file when the process ends. So it proves what was written, even if SQLite's log is lost.
struct EndNote: ~Copyable {
    /// The content of the file.
    struct End: Equatable {
        var history: History
        var position: UInt64
        var durability: Durability
        /// The `boot_id` of the system when the note was written, or empty if it had none.
        var boot: [UInt8]

        /// Whether the journal must have the records up to the position. A crash of the system may lose what was not
        /// synced.
        var isBinding: Bool { durability == .fsync || (boot == Self.presentBoot && !boot.isEmpty) }

        /// The present `boot_id` of the system, a text of 36 bytes, or empty if there is none.
        static let presentBoot: [UInt8] = {
            let text = try? FileSystem.bytes(of: "/proc/sys/kernel/random/boot_id")
            return text.map { Array($0.prefix(36)) } ?? []
        }()
    }

    private let file: Descriptor
    private let history: History
    private let durability: Durability

    private static let magic: UInt32 = 0x6d64_6e45
    private static let bootBytes = 36
    private static let byteCount = 4 + 8 + 8 + 1 + bootBytes + 4

    /// Opens the file, or creates it.
    init(_ path: String, history: History, durability: Durability) throws(JournalError) {
        file = try naming("open \(path)") { () throws(OpeningError) in try Descriptor.checked(path, O_RDWR | O_CREAT) }
        self.history = history
        self.durability = durability
    }

    /// Reads the file. Returns nil if there is no file, or if it was not written whole.
    static func read(_ path: String, _ disk: Disk) throws(JournalError) -> End? {
        guard let bytes = try disk.read(path, atMost: byteCount), bytes.count == byteCount else { return nil }
        var sum = Checksum()
        sum.add(bytes.span.extracting(..<(byteCount - 4)))
        do {
            var reader = ByteReader(bytes)
            guard try reader.u32("magic") == magic else { return nil }
            let (history, position) = (History(try reader.u64("history")), try reader.u64("position"))
            guard let durability = Durability(number: Int64(try reader.u8("durability"))) else { return nil }
            let boot = Array(try reader.bytes(bootBytes, "boot"))
            guard try reader.u32("checksum") == sum.value else { return nil }
            return End(
                history: history, position: position, durability: durability,
                boot: boot.allSatisfy { $0 == 0 } ? [] : boot)
        } catch {
            return nil
        }
    }

    /// Writes the position of the newest record. Errors are ignored: an older note is still true, but proves less.
    func write(_ position: UInt64) {
        var writer = ByteWriter()
        writer.u32(Self.magic)
        writer.u64(history.value)
        writer.u64(position)
        writer.u8(UInt8(durability.number))
        let boot = End.presentBoot
        writer.append(bytes: boot)
        writer.append(bytes: repeatElement(0, count: Self.bootBytes - boot.count))
        var sum = Checksum()
        sum.add(writer.bytes.span)
        writer.u32(sum.value)
        let bytes = writer.bytes
        _ = try? file.write(bytes, bytes.indices, at: 0)
    }

    /// Syncs the file.
    func sync() throws(JournalError) {
        try naming("sync the note of its end") { () throws(SystemError) in try file.sync() }
    }
}

extension Durability {
    /// The number for a durability in a journal and its note.
    var number: Int64 {
        switch self {
        case .fsync: 1
        case .os: 2
        }
    }

    /// The durability that a journal or its note names. What an earlier version has written with 3 was written as with ``os``.
    init?(number: Int64) {
        switch number {
        case 1: self = .fsync
        case 2, 3: self = .os
        default: return nil
        }
    }
}

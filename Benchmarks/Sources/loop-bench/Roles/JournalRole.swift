import CReference
import Foundation
import LoopCluster
import LoopCore
import LoopJournal
import LoopWire

/// Appends batches of events to a new journal and, in turn, the same bytes to a plain file; or reads a journal.
enum JournalRole {
    /// How many appends one of both does before it is the other's turn: the disk's pace changes within seconds.
    static let slice = 14

    static func run(_ role: Role) throws {
        let folder = FileManager.default.temporaryDirectory.path + "/loop-bench-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let figures: [(name: String, rate: Double)]
        do {
            // The folder goes before a figure is said, since the process that hears the figure ends this one.
            defer { try? FileManager.default.removeItem(atPath: folder) }
            figures = try measure(role, folder)
        }
        for (name, rate) in figures { Role.say(name, rate) }
    }

    private static func measure(_ role: Role, _ folder: String) throws -> [(name: String, rate: Double)] {
        let batch = try role.number("batch")
        let slices = max(1, try role.number("count") / slice)
        switch try role.text("work") {
        case "append": return try append(folder, batch: batch, slices: slices)
        case "read": return [("rate", try read(folder, batch: batch, slices: slices))]
        case let work: throw BenchmarkError.usage("there is no journal's work \(work)")
        }
    }

    static func batches(_ slice: Int, batch: Int, bytes: Int) -> [RecordLog] {
        (0..<Self.slice).map { number in
            RecordLog((1...batch).map { event((slice * Self.slice + number) * batch + $0, bytes: bytes) })
        }
    }

    private static func event(_ seq: Int, bytes: Int) -> Record {
        .event(
            EventRecord(
                seq: Seq(UInt64(seq)), time: WallTime(milliseconds: 1_764_000_000_000 + Int64(seq)),
                session: SessionID(1), number: UInt64(seq), effect: EffectID(feedback: 1, seq: Seq(7), index: 3),
                attempt: Attempt(epoch: 1, count: UInt64(seq / 8)), wantsSeq: false,
                bytes: [UInt8](repeating: UInt8(truncatingIfNeeded: seq), count: bytes)[...]))
    }

    static func seconds(_ body: () throws -> Void) rethrows -> Double {
        let began = DispatchTime.now().uptimeNanoseconds
        try body()
        return Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9
    }

    private static func append(_ journal: SQLiteJournal, _ batches: [RecordLog]) throws {
        for records in batches {
            _ = try journal.append(records, through: journal.position + UInt64(records.count))
        }
    }

    /// Events of 256 bytes, as their sender encoded them. The time is that of the appends, not of
    /// making the records, which the reducer's machine does as it goes.
    private static func append(
        _ folder: String, batch: Int, slices: Int
    ) throws -> [(name: String, rate: Double)] {
        let journal = try SQLiteJournal.open(folder + "/bench.journal", loop: "bench", newHistory: History(1))
        let file = open(folder + "/bench.log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw BenchmarkError.role("the plain file could not be made: errno \(errno)") }
        defer { close(file) }
        var ours = 0.0
        var plain = 0.0
        for number in 0..<slices {
            let batches = batches(number, batch: batch, bytes: 256)
            let bytes = batches[0].bytes
            ours += try seconds { try append(journal, batches) }
            plain += try seconds {
                let error = reference_append(file, bytes, UInt64(bytes.count), UInt64(slice))
                guard error == 0 else { throw BenchmarkError.role("the plain append failed with errno \(error)") }
            }
        }
        journal.close()
        let count = Double(slices * slice * batch)
        return [("journal", count / ours), ("plain", count / plain)]
    }

    /// Events of 16 bytes, as a replay reads them.
    private static func read(_ folder: String, batch: Int, slices: Int) throws -> Double {
        let path = folder + "/bench.journal"
        let journal = try SQLiteJournal.open(path, loop: "bench", newHistory: History(1))
        for number in 0..<slices { try append(journal, batches(number, batch: batch, bytes: 16)) }
        journal.close()
        let count = slices * slice * batch
        var position = 0
        let took = try seconds {
            let journal: any Journal = try SQLiteJournal.read(path)
            while true {
                let page = try journal.records(after: UInt64(position), bytesMax: 1 << 20)
                if page.isEmpty { break }
                guard case .event(let event) = page[0], event.seq.value == UInt64(position + 1) else {
                    throw BenchmarkError.promise("the record after \(position) is \(page[0])")
                }
                position += page.count
            }
        }
        guard position == count else { throw BenchmarkError.promise("\(position) of \(count) records came back") }
        return Double(count) / took
    }
}

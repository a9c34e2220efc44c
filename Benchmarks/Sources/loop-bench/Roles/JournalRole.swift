import CReference
import Foundation
import LoopCluster
import LoopCore
import LoopJournal
import LoopWire

/// Appends batches of events to a new file, or reads them, and says how long that took.
enum JournalRole {
    /// The bytes of an event as its sender encoded it.
    static let eventBytes = 256

    static func run(_ role: Role) throws {
        let folder = FileManager.default.temporaryDirectory.path + "/loop-bench-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let batch = try role.number("batch")
        let count = try role.number("count")
        switch try role.text("work") {
        case "append": Role.say("seconds", try append(folder, batch: batch, count: count))
        case "c-append": Role.say("seconds", try appendInC(folder, batch: batch, count: count))
        case "read": Role.say("seconds", try read(folder, batch: batch, count: count))
        case let work: throw BenchmarkError.usage("there is no journal's work \(work)")
        }
    }

    private static func event(_ seq: Int, bytes: Int = eventBytes) -> Record {
        .event(
            EventRecord(
                seq: Seq(UInt64(seq)), time: WallTime(milliseconds: 1_764_000_000_000 + Int64(seq)),
                session: SessionID(1), number: UInt64(seq), effect: EffectID(feedback: 1, seq: Seq(7), index: 3),
                attempt: Attempt(epoch: 1, count: UInt64(seq / 8)), wantsSeq: false,
                bytes: [UInt8](repeating: UInt8(truncatingIfNeeded: seq), count: bytes)[...]))
    }

    /// - Returns: how long the appends took, not the making of the records.
    private static func append(
        _ folder: String, batch: Int, count: Int, bytes: Int = eventBytes
    ) throws -> Double {
        let journal = try SQLiteJournal.open(folder + "/bench.journal", loop: "bench", newHistory: History(1))
        var seconds = 0.0
        for number in 0..<count {
            let records = (1...batch).map { event(number * batch + $0, bytes: bytes) }
            let began = DispatchTime.now().uptimeNanoseconds
            _ = try journal.append(records, through: UInt64((number + 1) * batch))
            seconds += Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9
        }
        journal.close()
        return seconds
    }

    private static func appendInC(_ folder: String, batch: Int, count: Int) throws -> Double {
        var bytes: [UInt8] = []
        for number in 1...batch { event(number + batch * count / 2).write(to: &bytes) }
        var seconds = 0.0
        let error = reference_append(folder + "/bench.log", UInt64(bytes.count), UInt64(count), &seconds)
        guard error == 0 else { throw BenchmarkError.role("the C appender ended with errno \(error)") }
        return seconds
    }

    /// Small events, as a replay reads them.
    private static func read(_ folder: String, batch: Int, count: Int) throws -> Double {
        _ = try append(folder, batch: batch, count: count, bytes: 16)
        let began = DispatchTime.now().uptimeNanoseconds
        let journal = try SQLiteJournal.read(folder + "/bench.journal")
        var position = 0
        while true {
            let page = try journal.records(after: UInt64(position), bytesMax: 1 << 20)
            if page.isEmpty { break }
            guard case .event(let event) = page[0], event.seq.value == UInt64(position + 1) else {
                throw BenchmarkError.promise("the record after \(position) is \(page[0])")
            }
            position += page.count
        }
        guard position == batch * count else { throw BenchmarkError.promise("\(position) of \(batch * count) records") }
        return Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9
    }
}

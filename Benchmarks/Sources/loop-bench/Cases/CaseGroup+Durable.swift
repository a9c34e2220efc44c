import Foundation

extension CaseGroup {
    /// Many events outstanding, each acknowledged once it is on the disk.
    static let durable4096 = CaseGroup(
        unit: "events/s",
        references: [
            Variant(name: "C over libzmq, one fdatasync for all that came") { effort in
                try await effort.inFolder { folder in
                    try await cRate(
                        senders: 1, window: 4096, count: effort.count(400_000), journal: "\(folder)/bench.log")
                }
            },
            Variant(name: "the same loop, journal in memory") { effort in
                try await rate(PackedEvent.word, journal: nil, count: effort.count(150_000))
            },
        ],
        ours: [PackedEvent.word, PlainEvent.word].map { loop in
            Variant(name: "loop-durable-4096" + (loop == PlainEvent.word ? "-codable" : "")) { effort in
                try await effort.inFolder { folder in
                    try await rate(loop, journal: "\(folder)/bench.journal", count: effort.count(150_000))
                }
            }
        })

    /// A reducer that was killed starts again from its records alone: how many events a second it replays.
    static let replay = CaseGroup(
        unit: "events/s", reference: nil,
        ours: [PackedEvent.word, PlainEvent.word].map { loop in
            Variant(name: "replay" + (loop == PlainEvent.word ? "-codable" : "")) { effort in
                try await effort.inFolder { folder in
                    let count = effort.count(400_000)
                    _ = try await rate(loop, journal: "\(folder)/bench.journal", count: count)
                    return try await withRoles { roles in
                        let again = try roles.start(
                            "reducer", ["loop": loop, "journal": "\(folder)/bench.journal"])
                        return Double(count) / (try await again.number("recovered") / 1000)
                    }
                }
            }
        })

    /// Events a second, from one sender, all of them checked at the end.
    private static func rate(_ loop: String, journal: String?, count: Int) async throws -> Double {
        Double(count) / (try await send(loop, window: 4096, count: count, "seconds", journal: journal))
    }
}

extension Effort {
    /// A folder that goes with the case, on the disk that the project is on: a file system in memory syncs for nothing.
    func inFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
        let path = URL(fileURLWithPath: folder).appendingPathComponent("bench-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(path)
    }
}

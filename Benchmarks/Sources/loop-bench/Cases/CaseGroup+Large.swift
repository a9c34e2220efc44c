import Foundation

extension CaseGroup {
    /// A whole reducer node with a large state in a tracked dictionary: what an event costs with a million entries beside
    /// a thousand, how long the loop pauses while the state is written and hashed, and how fast a late joiner is live.
    static let large: [CaseGroup] =
        [
            CaseGroup(
                unit: "events/CPU s",
                reference: Variant(name: "1,000 entries") { try await events(films: 1000, $0) },
                ours: [Variant(name: "large-events-1M") { try await events(films: $0.films, $0) }], rounds: 3)
        ] + pauses + [
            CaseGroup(
                unit: "MB/s", reference: nil,
                ours: [Variant(name: "large-join-100MB") { try await join($0) }], rounds: 3)
        ]

    /// The longest pause by the clock, beside that of a loop which does nothing else, and the longest turn by the processor
    /// time of the reducer's thread alone.
    private static let pauses: [CaseGroup] = {
        let (ours, without) = (PauseRun(hasSnapshot: true), PauseRun(hasSnapshot: false))
        return [
            CaseGroup(
                unit: "ms", reference: Variant(name: "C, one event at a time") { try await cPause($0) },
                ours: [
                    Variant(name: "large-pause-100MB") { try await ours.figure(isWall: true, $0) },
                    Variant(name: "large-pause-100MB-no-snapshot") { try await without.figure(isWall: true, $0) },
                ], rounds: 3),
            CaseGroup(
                unit: "ms", reference: Variant(name: "no snapshot") { try await without.figure(isWall: false, $0) },
                ours: [Variant(name: "large-turn-100MB") { try await ours.figure(isWall: false, $0) }], rounds: 3),
        ]
    }()

    /// The longest turn of the loop in C among as many as take about as long as the votes.
    private static func cPause(_ effort: Effort) async throws -> Double {
        try await withCReducer { roles in
            let count = effort.count(40_000)
            let sender = try roles.start("c-sender", ["name": "1", "window": "1", "count": "\(count)"])
            return try await sender.number("longest") / 1000
        }
    }

    /// A reducer whose catalogue is filled.
    private static func filled(
        films: Int, _ roles: RoleProcesses, _ arguments: [String: String] = [:]
    ) async throws -> (process: RoleProcess, address: String) {
        let reducer = try roles.start("reducer", arguments.merging(["loop": Catalogue.name]) { own, _ in own })
        let address = try await reducer.answer("listening")
        let filler = try roles.start("catalogue-filler", ["reducer": address, "films": "\(films)"])
        _ = try await filler.answer("filled")
        try await filler.finish()
        return (reducer, address)
    }

    /// Votes that one processor of the reducer's process could apply in a second.
    private static func events(films: Int, _ effort: Effort) async throws -> Double {
        let count = effort.count(400_000)
        return try await withRoles { roles in
            let reducer = try await filled(films: films, roles)
            let voter = try roles.start(
                "catalogue-voter",
                [
                    "reducer": reducer.address, "process": "\(reducer.process.processID)", "films": "\(films)",
                    "count": "\(count)",
                ])
            let rate = try await voter.number("processor")
            try await voter.finish()
            try await expect(films, count + count / 10, try await reducer.process.answer("outcome"))
            return rate
        }
    }

    /// The longest pauses between two votes at the reducer, one outstanding, in milliseconds. The state is hashed among
    /// them, and written as a snapshot, if there is one.
    fileprivate static func pauses(hasSnapshot: Bool, _ effort: Effort) async throws -> PauseRun.Figures {
        let films = effort.films
        return try await effort.inFolder { folder in
            try await withRoles { roles in
                var arguments = ["journal": "\(folder)/bench.journal", "durability": "os", "pauses": "yes"]
                // Filling takes some records less.
                if hasSnapshot { arguments["snapshot-every"] = "1200" }
                let reducer = try await filled(films: films, roles, arguments)
                let observer = try roles.start(
                    "catalogue-observer", ["reducer": reducer.address, "films": "\(films)"])
                _ = try await observer.answer("following")
                // Long enough for both.
                let voter = try roles.start(
                    "catalogue-lone-voter",
                    ["reducer": reducer.address, "films": "\(films)", "milliseconds": "\(effort.count(4000))"])
                let votes = try await voter.number("votes")
                try await voter.finish()
                try await expect(films, Int(votes), try await reducer.process.answer("outcome"))
                let seen = try await observer.number("seen")
                guard seen == votes else {
                    throw BenchmarkError.promise("an observer of the differences saw \(seen) of \(votes) votes")
                }
                try await observer.finish()
                let thread = try await reducer.process.number("longest-thread")
                let wall = try await reducer.process.number("longest-wall")
                let snapshots = "\(folder)/bench.journal.snapshots"
                let written = (try? FileManager.default.contentsOfDirectory(atPath: snapshots)) ?? []
                guard hasSnapshot != written.isEmpty else {
                    throw BenchmarkError.role("\(written.count) snapshots were written")
                }
                return PauseRun.Figures(wall: wall, thread: thread)
            }
        }
    }

    private static func join(_ effort: Effort) async throws -> Double {
        try await withRoles { roles in
            let films = effort.films
            let reducer = try await filled(films: films, roles)
            let joiner = try roles.start("catalogue-joiner", ["reducer": reducer.address, "films": "\(films)"])
            return try await joiner.number("rate") / 1e6
        }
    }

    private static func expect(_ films: Int, _ votes: Int, _ outcome: String) async throws {
        guard outcome == "\(films) \(votes) 0" else {
            throw BenchmarkError.promise("\(votes) votes were sent, and the loop ended with \(outcome)")
        }
    }
}

extension Effort {
    fileprivate var films: Int { Swift.max(1000, Int(1_000_000 * scale)) }
}

/// One run gives two figures. The first caller that needs one starts it.
private actor PauseRun {
    struct Figures {
        let wall: Double
        let thread: Double
    }

    private let hasSnapshot: Bool
    /// The figures of a run of which those by the clock, or those by the thread, were not asked for yet.
    private var left: [Bool: [Figures]] = [:]

    init(hasSnapshot: Bool) { self.hasSnapshot = hasSnapshot }

    func figure(isWall: Bool, _ effort: Effort) async throws -> Double {
        if left[isWall, default: []].isEmpty {
            let figures = try await CaseGroup.pauses(hasSnapshot: hasSnapshot, effort)
            for side in [true, false] { left[side, default: []].append(figures) }
        }
        let figures = left[isWall, default: []].removeFirst()
        return isWall ? figures.wall : figures.thread
    }
}

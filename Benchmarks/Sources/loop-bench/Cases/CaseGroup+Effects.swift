extension CaseGroup {
    /// State change, effect on a worker, its event applied, and so on: the time of one turn.
    static let effectRoundTrip = CaseGroup(
        unit: "us p50",
        references: window1.references,
        ours: [
            Variant(name: "effect-roundtrip") { try await pulse(count: $0.count(2000), journal: nil) },
            Variant(name: "effect-roundtrip-own-thread") {
                try await pulse(count: $0.count(2000), journal: nil, thread: "own")
            },
        ])

    /// The round trip of an effect with the journal in a file.
    static let durableRoundTrip = Variant(name: "effect-roundtrip-durable") { effort in
        try await effort.inFolder { try await pulse(count: effort.count(2000), journal: "\($0)/bench.journal") }
    }

    /// - Parameter thread: where effects run: on the `pool`, or on their node's `own` thread.
    private static func pulse(count: Int, journal: String?, thread: String = "pool") async throws -> Double {
        try await withRoles { roles in
            var arguments = ["loop": Pulse.name]
            arguments["journal"] = journal
            let reducer = try roles.start("reducer", arguments)
            let worker = try roles.start(
                "pulse-worker",
                ["reducer": try await reducer.answer("listening"), "count": "\(count)", "thread": thread])
            let result = try await worker.number("p50")
            try await expect("\(count) 0", try await reducer.answer("outcome"))
            return result
        }
    }

    /// Effects finished a second on two workers, 256 live at once.
    static let effects256 = effects(window: 256, count: 100_000)

    /// Effects finished a second on two workers, 4096 live at once.
    static let effects4096 = effects(window: 4096, count: 400_000)

    private static func effects(window: Int, count: Int) -> CaseGroup {
        CaseGroup(
            unit: "effects/s",
            reference: Variant(name: "C over libzmq, 2 senders") { effort in
                try await cRate(senders: 2, window: window, count: effort.count(400_000))
            },
            ours: [
                Variant(name: "effects-2-workers-\(window)") { effort in
                    try await fan(PackedFan.self, window: window, count: effort.count(count), journal: nil)
                },
                durableEffects(window: window, count: count),
                durableEffects(PlainFan.self, "-codable", window: window, count: count),
            ])
    }

    /// Effects finished a second on two workers, with the journal in a file. The file is synced before anything that depends on
    /// it leaves.
    static func durableEffects(window: Int, count: Int) -> Variant {
        durableEffects(PackedFan.self, "", window: window, count: count)
    }

    private static func durableEffects<Definition: FanDefinition>(
        _ type: Definition.Type, _ suffix: String, window: Int, count: Int
    ) -> Variant {
        Variant(name: "effects-2-workers-\(window)-durable\(suffix)") { effort in
            try await effort.inFolder { folder in
                try await fan(type, window: window, count: effort.count(count), journal: "\(folder)/bench.journal")
            }
        }
    }

    /// Effects finished a second, from the event that begins the loop until the reducer has finished.
    /// - Parameter journal: a file or a database, or nil for memory.
    static func fan<Definition: FanDefinition>(
        _ type: Definition.Type, window: Int, count: Int, journal: String?
    ) async throws -> Double {
        try await withRoles { roles in
            let loop = Definition.name
            var arguments = ["loop": loop]
            arguments["journal"] = journal
            let reducer = try roles.start("reducer", arguments)
            let address = try await reducer.answer("listening")
            for _ in 0..<2 {
                _ = try roles.start(
                    "fan-worker", ["loop": loop, "reducer": address, "capacity": "\(window / 2)"])
            }
            let client = try roles.start(
                "fan-client",
                ["loop": loop, "reducer": address, "workers": "2", "count": "\(count)", "window": "\(window)"])
            let began = try await client.number("began")
            let finished = try await reducer.number("finished")
            try await expect("\(count) \(count * (count - 1) / 2)", try await reducer.answer("outcome"))
            return Double(count) / (finished - began)
        }
    }

    private static func expect(_ expected: String, _ outcome: String) async throws {
        guard outcome == expected else {
            throw BenchmarkError.promise("the loop ended with \"\(outcome)\" in place of \"\(expected)\"")
        }
    }
}

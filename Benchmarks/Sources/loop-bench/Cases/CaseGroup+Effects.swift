extension CaseGroup {
    /// State change, effect on a worker, its event applied, and so on: the time of one turn.
    static let effectRoundTrip = CaseGroup(
        unit: "us p50",
        reference: window1.reference,
        ours: [
            Variant(name: "effect-roundtrip") { effort in
                let count = effort.count(4000)
                return try await withRoles { roles in
                    let reducer = try roles.start("reducer", ["loop": Pulse.name])
                    let worker = try roles.start(
                        "pulse-worker", ["reducer": try await reducer.answer("listening"), "count": "\(count)"])
                    let result = try await worker.number("p50")
                    try await expect("\(count) 0", try await reducer.answer("outcome"))
                    return result
                }
            }
        ])

    /// Effects finished a second on two workers, 256 live at once.
    static let effects256 = effects(window: 256, count: 30_000)

    /// The same with 4096 live at once.
    static let effects4096 = effects(window: 4096, count: 6000)

    private static func effects(window: Int, count: Int) -> CaseGroup {
        CaseGroup(
            unit: "effects/s",
            reference: Variant(name: "C over libzmq, 2 senders") { effort in
                try await cRate(senders: 2, window: window, count: effort.count(400_000))
            },
            ours: [
                Variant(name: "effects-2-workers-\(window)") { effort in
                    try await fan(window: window, count: effort.count(count))
                }
            ])
    }

    private static func fan(window: Int, count: Int) async throws -> Double {
        try await withRoles { roles in
            let reducer = try roles.start("reducer", ["loop": Fan.name])
            let address = try await reducer.answer("listening")
            for _ in 0..<2 {
                _ = try roles.start("fan-worker", ["reducer": address, "capacity": "\(window / 2)"])
            }
            let client = try roles.start(
                "fan-client",
                ["reducer": address, "workers": "2", "count": "\(count)", "window": "\(window)"])
            let seconds = try await client.number("seconds")
            try await expect("\(count) \(count * (count - 1) / 2)", try await reducer.answer("outcome"))
            return Double(count) / seconds
        }
    }

    private static func expect(_ expected: String, _ outcome: String) async throws {
        guard outcome == expected else {
            throw BenchmarkError.promise("the loop ended with \"\(outcome)\" in place of \"\(expected)\"")
        }
    }
}

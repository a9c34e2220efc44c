/// What encryption costs: the same work with CURVE keys and without, by Loop and by libzmq alone.
extension CaseGroup {
    static let curve = [16, 256, 4096].map(loopCurve) + [cLoopCurve, cPushPull]

    /// Loop with `window` events outstanding, which go out in batches.
    private static func loopCurve(_ window: Int) -> CaseGroup {
        CaseGroup(
            unit: "events/s",
            references: [
                Variant(name: "without keys") { effort in
                    try await loopRate(window, effort, keys: nil)
                },
                Variant(name: "C over libzmq with keys") { effort in
                    try await cRate(senders: 1, window: window, count: effort.count(150_000), hasKeys: true)
                },
            ],
            ours: [
                Variant(name: "curve-window-\(window)") { effort in
                    try await effort.inFolder { folder in
                        try KeyFiles.make(in: "\(folder)/keys")
                        return try await loopRate(window, effort, keys: "\(folder)/keys")
                    }
                }
            ])
    }

    private static func loopRate(_ window: Int, _ effort: Effort, keys: String?) async throws -> Double {
        let count = effort.count(window < 4096 ? 60_000 : 150_000)
        return Double(count) / (try await send(PackedEvent.word, window: window, count: count, "seconds", keys: keys))
    }

    /// The loop in C: an encrypted message for each event.
    private static let cLoopCurve = CaseGroup(
        unit: "events/s",
        reference: Variant(name: "without keys") { effort in
            try await cRate(senders: 1, window: 4096, count: effort.count(150_000))
        },
        ours: [
            Variant(name: "c-curve-window-4096") { effort in
                try await cRate(senders: 1, window: 4096, count: effort.count(150_000), hasKeys: true)
            }
        ])

    /// One way, from PUSH to PULL.
    private static let cPushPull = CaseGroup(
        unit: "events/s",
        reference: Variant(name: "without keys") { effort in
            try await pushPull(effort, hasKeys: false)
        },
        ours: [Variant(name: "c-curve-push-pull") { effort in try await pushPull(effort, hasKeys: true) }])

    private static func pushPull(_ effort: Effort, hasKeys: Bool) async throws -> Double {
        let count = effort.count(hasKeys ? 300_000 : 1_500_000)
        return try await withRoles { roles in
            roles.shared["count"] = "\(count)"
            let puller = try roles.start("c-puller", hasKeys ? ["keys": "yes"] : [:])
            roles.shared["collector"] = try await puller.answer("collector")
            if hasKeys { roles.shared["server-key"] = try await puller.answer("server-key") }
            _ = try roles.start("c-pusher", [:])
            return Double(count) / (try await puller.number("seconds"))
        }
    }
}

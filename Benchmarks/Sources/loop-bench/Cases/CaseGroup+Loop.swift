extension CaseGroup {
    /// Many events outstanding: how many a second.
    static let window4096 = CaseGroup(
        unit: "events/s",
        reference: Variant(name: "C over libzmq") { effort in
            try await cRate(senders: 1, window: 4096, count: effort.count(600_000))
        },
        ours: [PackedEvent.word, PlainEvent.word].map { loop in
            Variant(name: "loop-tcp-window-4096" + (loop == PlainEvent.word ? "-codable" : "")) { effort in
                let count = effort.count(150_000)
                let seconds = try await send(loop, window: 4096, count: count, "seconds")
                return Double(count) / seconds
            }
        })

    /// One event outstanding: how long until its outcome is known.
    static let window1 = CaseGroup(
        unit: "us p50",
        reference: Variant(name: "C over libzmq") { effort in
            try await cMedian(count: effort.count(4000))
        },
        ours: [
            Variant(name: "loop-tcp-window-1") { effort in
                try await send(PackedEvent.word, window: 1, count: effort.count(2500), "p50")
            },
            Variant(name: "loop-tcp-window-1-own-thread") { effort in
                try await send(PackedEvent.word, window: 1, count: effort.count(2500), "p50", thread: "own")
            },
            Variant(name: "loop-tcp-ask-1") { effort in
                try await send(PackedEvent.word, window: 1, count: effort.count(2500), "p50", asks: true)
            },
        ])

    /// One event outstanding, and a journal that syncs it: how long until its outcome is known.
    static let durable1 = CaseGroup(
        unit: "us p50",
        reference: Variant(name: "C over libzmq, fdatasync") { effort in
            try await effort.inFolder { try await cMedian(count: effort.count(1500), journal: "\($0)/bench.log") }
        },
        ours: ["pool", "own"].map { thread in
            Variant(name: "loop-durable-1" + (thread == "own" ? "-own-thread" : "")) { effort in
                try await effort.inFolder { folder in
                    try await send(
                        PackedEvent.word, window: 1, count: effort.count(1200), "p50",
                        journal: "\(folder)/bench.journal", thread: thread)
                }
            }
        })

    /// The median time of one turn of the loop in C.
    private static func cMedian(count: Int, journal: String? = nil) async throws -> Double {
        try await withCReducer(journal: journal) { roles in
            let sender = try roles.start("c-sender", ["name": "1", "window": "1", "count": "\(count)"])
            return try await sender.number("p50")
        }
    }

    /// - Parameters:
    ///   - asks: whether the sender asks for an answer to each event; with a window of 1.
    ///   - thread: where the sender's task runs: on the `pool`, or on its connection's `own` thread.
    ///   - keys: the folder of keys that the reducer and the sender have, or nil if they have none.
    /// - Returns: what the sender says under `answer`.
    static func send(
        _ loop: String, window: Int, count: Int, _ answer: String, journal: String? = nil, thread: String = "pool",
        keys: String? = nil, asks: Bool = false
    ) async throws -> Double {
        try await withRoles { roles in
            roles.shared["keys"] = keys
            var arguments = ["loop": loop]
            arguments["journal"] = journal
            let reducer = try roles.start("reducer", arguments)
            var sending = [
                "loop": loop, "reducer": try await reducer.answer("listening"), "window": "\(window)",
                "count": "\(count)", "warm-up": "\(min(count / 10, 20_000))", "thread": thread,
            ]
            sending["asks"] = asks ? "yes" : nil
            let sender = try roles.start("sender", sending)
            let result = try await sender.number(answer)
            _ = try await sender.number("checked")
            try await sender.finish()
            return result
        }
    }

    /// The rate of the loop in C, all senders together.
    /// - Parameters:
    ///   - journal: the file in which each event is synced before its update leaves, or nil if there is none.
    ///   - hasKeys: whether everything is encrypted.
    static func cRate(
        senders: Int, window: Int, count: Int, journal: String? = nil, hasKeys: Bool = false
    ) async throws -> Double {
        try await withCReducer(journal: journal, hasKeys: hasKeys) { roles in
            let started = try (1...senders).map { name in
                try roles.start(
                    "c-sender",
                    ["name": "\(name)", "window": "\(window / senders)", "count": "\(count / senders)"])
            }
            var longest = 0.0
            for sender in started { longest = max(longest, try await sender.number("seconds")) }
            return Double(count / senders * senders) / longest
        }
    }

    static func withCReducer(
        journal: String? = nil, hasKeys: Bool = false, _ body: (RoleProcesses) async throws -> Double
    ) async throws -> Double {
        try await withRoles { roles in
            var arguments: [String: String] = [:]
            arguments["journal"] = journal
            arguments["keys"] = hasKeys ? "yes" : nil
            let reducer = try roles.start("c-reducer", arguments)
            roles.shared["collector"] = try await reducer.answer("collector")
            roles.shared["publisher"] = try await reducer.answer("publisher")
            if hasKeys { roles.shared["server-key"] = try await reducer.answer("server-key") }
            return try await body(roles)
        }
    }
}

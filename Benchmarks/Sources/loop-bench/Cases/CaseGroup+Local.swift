extension CaseGroup {
    /// Events sent to a loop in the same process, and what a loop costs to make.
    static let inProcess: [CaseGroup] = [
        CaseGroup(
            unit: "events/CPU s",
            reference: Variant(name: "lock, reduce in place") { try await sending("lock", 0, $0) },
            ours: [0, 10].map { feedbacks in
                Variant(name: "loop-inproc-\(feedbacks)-feedbacks") { try await sending("loop", feedbacks, $0) }
            }),
        CaseGroup(
            unit: "events/s",
            reference: Variant(name: "lock, reduce in place") { try await sendingFromThreads("lock", $0) },
            ours: [Variant(name: "loop-inproc-8-threads") { try await sendingFromThreads("loop", $0) }]),
        CaseGroup(
            unit: "us CPU", reference: nil,
            ours: [Variant(name: "loop-inproc-make") { try await making("microseconds", $0) }]),
        CaseGroup(
            unit: "bytes", reference: nil,
            ours: [Variant(name: "loop-inproc-size") { try await making("bytes", $0) }]),
    ]

    private static func sending(_ kind: String, _ feedbacks: Int, _ effort: Effort) async throws -> Double {
        let count = effort.count(feedbacks == 0 ? 4_000_000 : 1_000_000)
        let seconds = try await inProcess("send", "seconds", ["kind": kind, "feedbacks": "\(feedbacks)"], count)
        return Double(count) / seconds
    }

    private static func sendingFromThreads(_ kind: String, _ effort: Effort) async throws -> Double {
        let count = effort.count(250_000)
        let seconds = try await inProcess("threads", "seconds", ["kind": kind], count)
        return Double(SenderCounts.sendersCount * count) / seconds
    }

    private static func making(_ figure: String, _ effort: Effort) async throws -> Double {
        try await inProcess("make", figure, ["feedbacks": "0"], effort.count(20_000))
    }

    private static func inProcess(
        _ work: String, _ figure: String, _ arguments: [String: String], _ count: Int
    ) async throws -> Double {
        try await withRoles { roles in
            let role = try roles.start(
                "in-process", arguments.merging(["work": work, "count": "\(count)"]) { own, _ in own })
            return try await role.number(figure)
        }
    }
}

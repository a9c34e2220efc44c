extension CaseGroup {
    /// Events sent to a loop in the same process by one thread.
    static let inProcess = CaseGroup(
        unit: "events/CPU s", reference: nil,
        ours: [0, 10].map { feedbacks in
            Variant(name: "loop-inproc-\(feedbacks)-feedbacks") { effort in
                let count = effort.count(400_000)
                return try await withRoles { roles in
                    let role = try roles.start("in-process", ["count": "\(count)", "feedbacks": "\(feedbacks)"])
                    return Double(count) / (try await role.number("seconds"))
                }
            }
        })

    static let encoding = coder("encode")
    static let decoding = coder("decode")

    /// A thousand structs with six fields, so many times a second.
    private static func coder(_ work: String) -> CaseGroup {
        CaseGroup(
            unit: "times/CPU s",
            reference: Variant(name: "Foundation's JSON") { try await rate("json-\(work)", $0) },
            ours: [Variant(name: "cbor-\(work)") { try await rate("cbor-\(work)", $0) }])
    }

    private static func rate(_ work: String, _ effort: Effort) async throws -> Double {
        try await withRoles { roles in
            let role = try roles.start("coder", ["work": work, "milliseconds": "\(effort.count(400))"])
            return try await role.number("rate")
        }
    }
}

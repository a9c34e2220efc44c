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
}

extension CaseGroup {
    /// Values coded over and over, beside Foundation's JSON and beside bytes written by hand.
    static let coding: [CaseGroup] = CoderSubject.allCases.flatMap { subject in
        ["encode", "decode"].map { task in
            let name = (subject == .films ? "cbor" : "cbor-\(subject.rawValue)") + "-\(task)"
            return CaseGroup(
                unit: "times/CPU s",
                references: [("json", "Foundation's JSON"), ("hand", "written by hand")].map { coder, name in
                    Variant(name: name) { try await rate(subject, coder, task, $0) }
                },
                ours: [Variant(name: name) { try await rate(subject, "cbor", task, $0) }])
        }
    }

    private static func rate(
        _ subject: CoderSubject, _ coder: String, _ task: String, _ effort: Effort
    ) async throws -> Double {
        let milliseconds = effort.count(subject == .films ? 300 : 150)
        return try await withRoles { roles in
            let role = try roles.start(
                "coder",
                ["subject": subject.rawValue, "coder": coder, "task": task, "milliseconds": "\(milliseconds)"])
            return try await role.number("rate")
        }
    }
}

extension CaseGroup {
    /// Values coded over and over: as `Codable`, and with their coding written by hand (`wire`), beside Foundation's JSON
    /// and beside bytes written by hand.
    static let coding: [CaseGroup] = CoderSubject.allCases.flatMap { subject in
        ["encode", "decode"].flatMap { task in
            [
                coder(subject, task, "json", "Foundation's JSON", suffix: ""),
                coder(subject, task, "hand", "written by hand", suffix: "-hand"),
            ]
        }
    }

    private static func coder(
        _ subject: CoderSubject, _ task: String, _ reference: String, _ referenceName: String, suffix: String
    ) -> CaseGroup {
        let name = subject == .films ? "cbor" : "cbor-\(subject.rawValue)"
        let coders = subject == .numbers ? ["cbor"] : ["cbor", "wire"]
        return CaseGroup(
            unit: "times/CPU s",
            reference: Variant(name: referenceName) { try await rate(subject, reference, task, $0) },
            ours: coders.map { coder in
                let kind = coder == "wire" ? "-wire" : ""
                return Variant(name: "\(name)-\(task)\(kind)\(suffix)") { try await rate(subject, coder, task, $0) }
            })
    }

    private static func rate(
        _ subject: CoderSubject, _ coder: String, _ task: String, _ effort: Effort
    ) async throws -> Double {
        let milliseconds = effort.count(subject == .films ? 400 : 200)
        return try await withRoles { roles in
            let role = try roles.start(
                "coder",
                ["subject": subject.rawValue, "coder": coder, "task": task, "milliseconds": "\(milliseconds)"])
            return try await role.number("rate")
        }
    }
}

import CReference

/// The nodes of the loop in C.
enum CRoles {
    static func reduce() throws {
        var reducer = reference_reducer()
        guard reference_reducer_open(&reducer) == 0 else { throw BenchmarkError.role("the C reducer could not bind") }
        Role.say("collector", string(reducer.collector))
        Role.say("publisher", string(reducer.publisher))
        throw BenchmarkError.role("the C reducer ended with errno \(reference_reducer_run(&reducer))")
    }

    static func send(_ role: Role) throws {
        let count = try role.number("count")
        var result = reference_result()
        let error = reference_sender(
            try role.text("collector"), try role.text("publisher"), UInt64(try role.number("name")),
            UInt64(try role.number("window")), UInt64(count), &result)
        guard error == 0 else { throw BenchmarkError.role("the C sender ended with errno \(error)") }
        guard result.updates == UInt64(count), result.disorder == 0 else {
            throw BenchmarkError.role("the C loop lost or reordered updates: \(result)")
        }
        Role.say("seconds", result.seconds)
        Role.say("p50", result.p50_us)
    }

    private static func string<Characters>(_ characters: Characters) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

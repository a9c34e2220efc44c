import CReference
import Glibc

/// The nodes of the loop in C.
enum CRoles {
    /// - Parameter role: with a path under `journal`, where every event is to be synced before its update leaves.
    static func reduce(_ role: Role) throws {
        var reducer = reference_reducer()
        guard reference_reducer_open(&reducer) == 0 else { throw BenchmarkError.role("the C reducer could not bind") }
        Role.say("collector", string(reducer.collector))
        Role.say("publisher", string(reducer.publisher))
        guard let path = try? role.text("journal") else {
            throw BenchmarkError.role("the C reducer ended with errno \(reference_reducer_run(&reducer))")
        }
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw BenchmarkError.role("\(path) could not be made: errno \(errno)") }
        throw BenchmarkError.role("the C reducer ended with errno \(reference_reducer_run_durable(&reducer, file))")
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
        Role.say("longest", result.longest_us)
    }

    private static func string<Characters>(_ characters: Characters) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

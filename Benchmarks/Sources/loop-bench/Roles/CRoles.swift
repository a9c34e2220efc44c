import CReference
import Glibc

/// The nodes of the loop in C.
enum CRoles {
    /// - Parameter role: with a path under `journal`, where every event is to be synced before its update leaves.
    static func reduce(_ role: Role) throws {
        var reducer = try openReducer(role)
        guard let path = try? role.text("journal") else {
            throw BenchmarkError.role("the C reducer ended with errno \(reference_reducer_run(&reducer))")
        }
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw BenchmarkError.role("\(path) could not be made: errno \(errno)") }
        throw BenchmarkError.role("the C reducer ended with errno \(reference_reducer_run_durable(&reducer, file))")
    }

    /// PULL alone: takes as many events as a pusher sends.
    static func pull(_ role: Role) throws {
        var reducer = try openReducer(role)
        var seconds = 0.0
        let error = reference_pull(&reducer, UInt64(try role.number("count")), &seconds)
        guard error == 0 else { throw BenchmarkError.role("the C puller ended with errno \(error)") }
        Role.say("seconds", seconds)
    }

    static func push(_ role: Role) throws {
        let error = reference_push(
            try role.text("collector"), try? role.text("server-key"), UInt64(try role.number("count")))
        guard error == 0 else { throw BenchmarkError.role("the C pusher ended with errno \(error)") }
    }

    /// With `keys=yes` it has CURVE, and says its public key.
    private static func openReducer(_ role: Role) throws -> reference_reducer {
        var keys = reference_keys()
        var reducer = reference_reducer()
        let hasKeys = (try? role.text("keys")) != nil
        guard !hasKeys || reference_keys_make(&keys) == 0 else {
            throw BenchmarkError.role("this libzmq has no CURVE")
        }
        let error = hasKeys ? reference_reducer_open(&reducer, &keys) : reference_reducer_open(&reducer, nil)
        guard error == 0 else { throw BenchmarkError.role("the C reducer could not bind") }
        Role.say("collector", string(reducer.collector))
        Role.say("publisher", string(reducer.publisher))
        if hasKeys { Role.say("server-key", string(keys.public_key)) }
        return reducer
    }

    static func send(_ role: Role) throws {
        let count = try role.number("count")
        var result = reference_result()
        let error = reference_sender(
            try role.text("collector"), try role.text("publisher"), try? role.text("server-key"),
            UInt64(try role.number("name")), UInt64(try role.number("window")), UInt64(count), &result)
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

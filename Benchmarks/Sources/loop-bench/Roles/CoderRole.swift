import Foundation
import LoopCore
import LoopWire

/// Encodes or decodes a thousand structs over and over.
enum CoderRole {
    static func run(_ role: Role) throws {
        let films = Films(count: 1000)
        let seconds = Double(try role.number("milliseconds")) / 1000
        switch try role.text("work") {
        case "cbor-encode":
            try report(seconds) { try CBOR.encode(films).count }
        case "cbor-decode":
            let bytes = try CBOR.encode(films)
            guard try CBOR.decode(Films.self, from: bytes) == films else {
                throw BenchmarkError.promise("decoding gives another value than the one encoded")
            }
            try report(seconds) { try CBOR.decode(Films.self, from: bytes).films.count }
        case "json-encode":
            let encoder = JSONEncoder()
            try report(seconds) { try encoder.encode(films).count }
        case "json-decode":
            let data = try JSONEncoder().encode(films)
            let decoder = JSONDecoder()
            try report(seconds) { try decoder.decode(Films.self, from: data).films.count }
        case let work: throw BenchmarkError.usage("there is no coder's work \(work)")
        }
    }

    /// Says how often a second the work can be done; a fifth of the time warms up.
    private static func report(_ seconds: Double, _ work: () throws -> Int) throws {
        _ = try rate(seconds / 5, work)
        Role.say("rate", try rate(seconds, work))
    }

    private static func rate(_ seconds: Double, _ work: () throws -> Int) throws -> Double {
        let began = ProcessorTime.seconds
        var times = 0
        var total = 0
        while ProcessorTime.seconds - began < seconds {
            total &+= try work()
            times += 1
        }
        guard total > 0 else { throw BenchmarkError.promise("nothing was coded") }
        return Double(times) / (ProcessorTime.seconds - began)
    }
}

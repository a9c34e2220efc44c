import CBOR
import Foundation

/// A value that is encoded and decoded over and over by one coder.
enum CoderSubject: String, CaseIterable {
    case films, increment, response, numbers

    /// Encodes or decodes it once, and gives back something that was made of it.
    typealias Work = () throws -> Int

    /// - Parameters:
    ///   - coder: `cbor`, `json` or `hand`.
    ///   - task: `encode` or `decode`.
    func work(_ coder: String, _ task: String) throws -> Work {
        switch self {
        case .films: try Self.work(Films(count: 1000), coder, task)
        case .increment: try Self.work(Signal.increment, coder, task)
        case .response: try Self.work(Signal.answer, coder, task)
        case .numbers: try Self.work(Numbers(), coder, task)
        }
    }

    private static func work<Value: Codable & Equatable & HandCodable>(
        _ value: Value, _ coder: String, _ task: String
    ) throws -> Work {
        let jsonEncoder = JSONEncoder()
        let jsonDecoder = JSONDecoder()
        switch coder {
        case "cbor":
            return try cbor(value, task)
        case "json":
            return try work(
                value, task, encode: { try jsonEncoder.encode($0) },
                decode: { try jsonDecoder.decode(Value.self, from: $0) })
        case "hand":
            var writer = HandWriter()
            return try work(
                value, task, encode: { value in writer.bytes { value.write(to: &$0) } },
                decode: { bytes in
                    try bytes.withUnsafeBytes { raw in
                        var reader = HandReader(raw)
                        return try Value(from: &reader)
                    }
                })
        default: throw BenchmarkError.usage("there is no coder \(coder)")
        }
    }

    private static func cbor<Value: Codable & Equatable>(_ value: Value, _ task: String) throws -> Work {
        try work(value, task, encode: { try CBOR.encode($0) }, decode: { try CBOR.decode(Value.self, from: $0) })
    }

    private static func work<Value: Equatable, Bytes: Collection>(
        _ value: Value, _ task: String, encode: @escaping (Value) throws -> Bytes,
        decode: @escaping (Bytes) throws -> Value
    ) throws -> Work {
        let bytes = try encode(value)
        guard try decode(bytes) == value else {
            throw BenchmarkError.promise("decoding gives another value than the one encoded")
        }
        switch task {
        case "encode": return { try encode(value).count }
        // The value lives as long as it would in a program; that it is the right one was seen above.
        case "decode": return { withExtendedLifetime(try decode(bytes)) { bytes.count } }
        default: throw BenchmarkError.usage("a coder has no task \(task)")
        }
    }
}

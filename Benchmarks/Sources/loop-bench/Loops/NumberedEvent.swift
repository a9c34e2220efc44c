import CBOR
import LoopWire

/// An event whose number tells what the loop has applied, and in which order.
protocol NumberedEvent: Codable, Sendable {
    /// A word for the loop's name.
    static var word: String { get }

    init(number: UInt64)

    var number: UInt64 { get }
}

/// 64 bytes encoded, by hand: one byte string, its number in front.
struct PackedEvent: NumberedEvent, WireCodable {
    static var word: String { "packed" }

    let number: UInt64

    init(number: UInt64) { self.number = number }

    func encode(to writer: inout WireWriter) {
        writer.writeBytes(62) { bytes in
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
    }

    init(from reader: inout WireReader) throws {
        number = try reader.readBytes { bytes in
            guard bytes.byteCount == 62 else { throw BenchmarkError.promise("an event of \(bytes.byteCount) bytes") }
            return bytes.unsafeLoadUnaligned(as: UInt64.self)
        }
    }
}

/// What people write: an enum with payloads. About 64 bytes encoded.
enum PlainEvent: NumberedEvent, Equatable {
    case moved(number: UInt64, x: Double, y: Double, by: String)
    case paused

    static var word: String { "plain" }

    init(number: UInt64) { self = .moved(number: number, x: 52.5161, y: 13.3777, by: "a ferry") }

    var number: UInt64 {
        switch self {
        case .moved(let number, _, _, _): number
        case .paused: 0
        }
    }
}

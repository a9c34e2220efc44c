import CBOR
import LoopWire

/// What happens to a fan.
enum FanStep {
    case begin(limit: Int, window: Int)
    case done(Int)
}

/// One way to write it.
protocol FanEvent: Codable, Sendable {
    init(_ step: FanStep)

    var step: FanStep { get }
}

/// 17 bytes, by hand: two numbers; the second is negative when an effect is done.
struct PackedFanEvent: FanEvent, WireCodable {
    private let first: Int
    private let second: Int

    init(_ step: FanStep) {
        (first, second) =
            switch step {
            case .begin(let limit, let window): (limit, window)
            case .done(let number): (number, -1)
            }
    }

    var step: FanStep { second < 0 ? .done(first) : .begin(limit: first, window: second) }

    func encode(to writer: inout WireWriter) {
        writer.writeBytes(16) { bytes in
            withUnsafeBytes(of: (first, second)) { for byte in $0 { bytes.append(byte) } }
        }
    }

    init(from reader: inout WireReader) throws {
        (first, second) = try reader.readBytes { bytes in
            guard bytes.byteCount == 16 else { throw BenchmarkError.promise("an event of \(bytes.byteCount) bytes") }
            return (
                bytes.unsafeLoadUnaligned(as: Int.self),
                bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: Int.self)
            )
        }
    }
}

/// What people write.
enum PlainFanEvent: FanEvent {
    case begin(limit: Int, window: Int)
    case done(Int)

    init(_ step: FanStep) {
        self =
            switch step {
            case .begin(let limit, let window): .begin(limit: limit, window: window)
            case .done(let number): .done(number)
            }
    }

    var step: FanStep {
        switch self {
        case .begin(let limit, let window): .begin(limit: limit, window: window)
        case .done(let number): .done(number)
        }
    }
}

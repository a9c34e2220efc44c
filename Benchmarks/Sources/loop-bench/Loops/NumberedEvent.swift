/// An event whose number tells what the loop has applied, and in which order.
protocol NumberedEvent: Codable, Sendable {
    /// A word for the loop's name.
    static var word: String { get }

    init(number: UInt64)

    var number: UInt64 { get }
}

/// 64 bytes encoded, by hand: one byte string, its number in front.
struct PackedEvent: NumberedEvent {
    static var word: String { "packed" }

    let number: UInt64

    init(number: UInt64) { self.number = number }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode([UInt8](packing: [number], count: 62))
    }

    init(from decoder: any Decoder) throws {
        number = try decoder.singleValueContainer().decode([UInt8].self).unpacked(count: 62)[0]
    }
}

extension [UInt8] {
    /// Numbers of 8 bytes each, and zeros up to a number of bytes.
    init(packing numbers: [UInt64], count: Int) {
        self.init(unsafeUninitializedCapacity: count) { bytes, initialized in
            bytes.initialize(repeating: 0)
            for (place, number) in numbers.enumerated() {
                UnsafeMutableRawBufferPointer(bytes).storeBytes(of: number, toByteOffset: 8 * place, as: UInt64.self)
            }
            initialized = count
        }
    }

    /// The numbers in this many bytes.
    func unpacked(count wanted: Int) throws -> [UInt64] {
        guard count == wanted else { throw BenchmarkError.promise("an event of \(count) bytes") }
        return withUnsafeBytes { bytes in
            (0..<count / 8).map { bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self) }
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

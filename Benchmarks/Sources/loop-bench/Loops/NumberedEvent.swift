/// An event whose number tells what the loop has applied, and in which order.
protocol NumberedEvent: Codable, Sendable {
    /// A word for the loop's name.
    static var word: String { get }

    init(number: UInt64)

    var number: UInt64 { get }
}

/// 64 bytes encoded, as much by hand as a `Codable` type can be: one byte string, its number in front.
struct PackedEvent: NumberedEvent {
    static var word: String { "packed" }

    let number: UInt64

    init(number: UInt64) { self.number = number }

    init(from decoder: any Decoder) throws {
        let bytes = try decoder.singleValueContainer().decode([UInt8].self)
        guard bytes.count == 62 else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "not 62 bytes"))
        }
        number = bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    }

    func encode(to encoder: any Encoder) throws {
        let bytes = [UInt8](unsafeUninitializedCapacity: 62) { buffer, count in
            UnsafeMutableRawBufferPointer(buffer).initializeMemory(as: UInt8.self, repeating: 0)
            UnsafeMutableRawBufferPointer(buffer).storeBytes(of: number, as: UInt64.self)
            count = 62
        }
        var container = encoder.singleValueContainer()
        try container.encode(bytes)
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

/// Any CBOR value that `Codable` can express, for reading documents of unknown shape.
package indirect enum CBORValue: Codable, Hashable, Sendable {
    case null
    case bool(Bool)
    case unsigned(UInt64)
    case negative(Int64)
    /// As bits, so that a NaN is itself.
    case float(UInt64)
    case bytes([UInt8])
    case text(String)
    case array([CBORValue])
    case map([CBORValue: CBORValue])

    package init(from decoder: any Decoder) throws {
        let single = try decoder.singleValueContainer()
        if single.decodeNil() {
            self = .null
        } else if let value = try? single.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? single.decode(UInt64.self) {
            self = .unsigned(value)
        } else if let value = try? single.decode(Int64.self) {
            self = .negative(value)
        } else if let value = try? single.decode(Double.self) {
            self = .float(value.isNaN ? Double.nan.bitPattern : value.bitPattern)
        } else if let value = try? single.decode(String.self) {
            self = .text(value)
        } else if let value = try? single.decode([CBORValue: CBORValue].self) {
            self = .map(value)
        } else if let value = try? single.decode([CBORValue].self) {
            self = .array(value)
        } else {
            self = .bytes(try single.decode([UInt8].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var single = encoder.singleValueContainer()
        switch self {
        case .null: try single.encodeNil()
        case .bool(let value): try single.encode(value)
        case .unsigned(let value): try single.encode(value)
        case .negative(let value): try single.encode(value)
        case .float(let bits): try single.encode(Double(bitPattern: bits))
        case .bytes(let value): try single.encode(value)
        case .text(let value): try single.encode(value)
        case .array(let value): try single.encode(value)
        case .map(let value): try single.encode(value)
        }
    }
}

/// Any CBOR value that `Codable` can express.
indirect enum AnyValue: Codable, Hashable, Sendable {
    case null
    case bool(Bool)
    case unsigned(UInt64)
    case negative(Int64)
    case float(UInt64)
    case bytes([UInt8])
    case text(String)
    case array([AnyValue])
    case map([AnyValue: AnyValue])

    init(from decoder: any Decoder) throws {
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
            // As bits, so that a NaN is itself.
            self = .float(value.isNaN ? Double.nan.bitPattern : value.bitPattern)
        } else if let value = try? single.decode(String.self) {
            self = .text(value)
        } else if let value = try? single.decode([AnyValue: AnyValue].self) {
            self = .map(value)
        } else if let value = try? single.decode([AnyValue].self) {
            self = .array(value)
        } else {
            self = .bytes(try single.decode([UInt8].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
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

/// A field of every kind that the coder treats in a way of its own.
struct Everything: Codable {
    enum Choice: Codable {
        case nothing
        case one(Int8)
        case named(left: Int16, right: Float?)
    }

    var bool: Bool?
    var text: String?
    var small: UInt8?
    var wide: Int64?
    var double: Double?
    var single: Float?
    var bytes: [UInt8]?
    var numbers: [Int]?
    var shorts: [Int32]?
    var names: Set<String>?
    var counts: [String: UInt64]?
    var byNumber: [Int16: String]?
    var byBytes: [[UInt8]: Bool]?
    var choices: [Choice]?
    var optional: Int??
    var inner: [Everything]?
}

/// A type that holds itself.
indirect enum Tree: Codable, Hashable {
    case leaf(String)
    case branch([Tree])
    case labelled([String: Tree])
    case maybe(Tree?)
}

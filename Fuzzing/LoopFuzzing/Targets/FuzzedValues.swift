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

internal import LoopWire

/// Whether two values of any type are equal.
///
/// `Equatable` decides if the type conforms to it. Otherwise the encoded bytes decide, if the value can be encoded, because the
/// encoding is deterministic. Other values are equal if everything that reflection shows of them is.
enum SameValue {
    static func are(_ a: Any, _ b: Any) -> Bool {
        guard type(of: a) == type(of: b) else { return false }
        if let a = a as? any Equatable { return areEqual(a, b) }
        if let a = a as? any Encodable, let b = b as? any Encodable, let first = bytes(a), let second = bytes(b) {
            return first == second
        }
        return ValueText.of(a, charactersMax: .max) == ValueText.of(b, charactersMax: .max)
    }

    private static func areEqual<Value: Equatable>(_ a: Value, _ b: Any) -> Bool { (b as? Value) == a }

    private static func bytes(_ value: some Encodable) -> [UInt8]? { try? CBORCoder().encode(value) }
}

internal import LoopWire

/// Whether two values are the same, for values of any type.
///
/// `Equatable` decides where the type conforms. Else the values' encoded bytes do, where it can be encoded: the encoding is
/// deterministic. What can be neither compared nor encoded is the same when all that can be seen of it by reflection is.
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

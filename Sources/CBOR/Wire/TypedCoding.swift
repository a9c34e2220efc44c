/// Writes and reads values of one type that does so itself. It is made once for the type: coding a value then asks for nothing at
/// run time, and the value is made where it is wanted.
class TypedCoding<Value> {
    func write(_ value: Value, _ core: EncodingCore, in node: Int, keyStartOrIndex: Int, keyLength: Int) throws {
        preconditionFailure("\(Value.self) is written by nothing")
    }

    func read(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> Value {
        preconditionFailure("\(Value.self) is read by nothing")
    }

    /// Of a type that is `Value`.
    static func of<Wire: WireCodable>(_ type: Wire.Type) -> AnyObject { WireCoding<Wire>() }
}

private final class WireCoding<Wire: WireCodable>: TypedCoding<Wire> {
    override func write(
        _ value: Wire, _ core: EncodingCore, in node: Int, keyStartOrIndex: Int, keyLength: Int
    ) throws {
        try core.encodeWire(value, in: node, keyStartOrIndex: keyStartOrIndex, keyLength: keyLength)
    }

    override func read(_ core: DecodingCore, _ item: CBORIndex.Item) throws -> Wire {
        var reader = WireReader(core: core, item: item)
        return try Wire(from: &reader)
    }
}

import LoopWire

/// Pieces of the JSON documents that are printed a line each.
package enum JSONText {
    /// A string in double quotes, escaped.
    package static func quoted(_ text: String) -> String {
        (try? CBOR.json(CBOR.encode(text))) ?? "null"
    }

    /// An encoded event or state; null where the bytes are no CBOR.
    package static func document(_ bytes: [UInt8]) -> String { (try? CBOR.json(bytes)) ?? "null" }

    /// An object of fields that are JSON already, in this order; those without a value are left out.
    package static func object(_ fields: [(name: String, value: String?)]) -> String {
        let shown = fields.compactMap { field in field.value.map { "\(quoted(field.name)):\($0)" } }
        return "{\(shown.joined(separator: ","))}"
    }
}

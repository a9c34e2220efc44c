import CBOR

/// Formats parts of the output: JSON documents, and texts within lines.
package enum JSONText {
    /// Returns a string in double quotes, escaped.
    package static func quoted(_ text: String) -> String {
        (try? CBOR.json(CBOR.encode(text))) ?? "null"
    }

    /// Returns an encoded event or state as JSON, or `null` if the bytes are not CBOR.
    package static func document(_ bytes: [UInt8]) -> String { (try? CBOR.json(bytes)) ?? "null" }

    /// Returns two lower-case digits for each byte.
    package static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Returns a text for a line of a table: without newlines, and cut to a number of characters.
    package static func onOneLine(_ text: String, _ countMax: Int = .max) -> String {
        let line = PrintableText.line(String(text.map { $0.isNewline ? " " : $0 }))
        return line.count > countMax ? line.prefix(max(1, countMax) - 1) + "…" : line
    }

    /// Returns an object of fields whose values are JSON already, in this order. Fields without a value are left out.
    package static func object(_ fields: [(name: String, value: String?)]) -> String {
        let shown = fields.compactMap { field in field.value.map { "\(quoted(field.name)):\($0)" } }
        return "{\(shown.joined(separator: ","))}"
    }
}

extension JSONText {
    /// Returns a state after a transition, as `{"seq":9,"state":{…}}`, or for people: the seq, then the state as indented JSON.
    package static func state(_ state: [UInt8], seq: UInt64, isJSON: Bool) -> String {
        let document = document(state)
        if isJSON { return object([("seq", "\(seq)"), ("state", document)]) }
        return "seq \(seq)\n\(indented(document))"
    }

    /// Returns a document of one line with line breaks and two spaces for each level. Empty arrays and objects stay on one line.
    package static func indented(_ document: String) -> String {
        var out: [UInt8] = []
        var depth = 0
        var isInString = false
        var isEscaped = false
        var isAfterOpening = false
        func newLine() -> [UInt8] { [0x0A] + [UInt8](repeating: 0x20, count: 2 * depth) }
        for byte in document.utf8 {
            if isInString {
                out.append(byte)
                isInString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            switch byte {
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if !isAfterOpening { out += newLine() }
                out.append(byte)
                isAfterOpening = false
                continue
            default: break
            }
            if isAfterOpening { out += newLine() }
            isAfterOpening = false
            out.append(byte)
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                isAfterOpening = true
            case UInt8(ascii: ","): out += newLine()
            case UInt8(ascii: ":"): out.append(0x20)
            case UInt8(ascii: "\""): isInString = true
            default: break
            }
        }
        return String(decoding: out, as: UTF8.self)
    }
}

import CBOR
import LoopWire

/// Chunks of what is printed: JSON documents a line each, and texts between them.
package enum JSONText {
    /// A string in double quotes, escaped.
    package static func quoted(_ text: String) -> String {
        (try? CBOR.json(CBOR.encode(text))) ?? "null"
    }

    /// An encoded event or state; null where the bytes are no CBOR.
    package static func document(_ bytes: [UInt8]) -> String { (try? CBOR.json(bytes)) ?? "null" }

    /// Two lower-case digits for each byte.
    package static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// A text for a line of a table: without line ends, and cut where it is longer than a number of characters.
    package static func onOneLine(_ text: String, _ countMax: Int = .max) -> String {
        let line = PrintableText.line(String(text.map { $0.isNewline ? " " : $0 }))
        return line.count > countMax ? line.prefix(max(1, countMax) - 1) + "…" : line
    }

    /// An object of fields that are JSON already, in this order; those without a value are left out.
    package static func object(_ fields: [(name: String, value: String?)]) -> String {
        let shown = fields.compactMap { field in field.value.map { "\(quoted(field.name)):\($0)" } }
        return "{\(shown.joined(separator: ","))}"
    }
}

extension JSONText {
    /// A document that stands on one line, spread over lines: two spaces for each level, empty ones on one line.
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

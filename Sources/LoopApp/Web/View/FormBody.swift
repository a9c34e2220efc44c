internal import LoopCore

/// The fields of a form as browsers send them (`application/x-www-form-urlencoded`).
struct FormBody: Equatable, Sendable {
    /// The fields in the order of the page.
    let fields: [(name: String, value: String)]

    static func == (a: FormBody, b: FormBody) -> Bool {
        a.fields.map(\.name) == b.fields.map(\.name) && a.fields.map(\.value) == b.fields.map(\.value)
    }

    /// Decodes a form. A broken percent encoding is taken literally, and what is not UTF-8 is replaced.
    init(_ bytes: some Sequence<UInt8>) {
        fields = Array(bytes).split(separator: UInt8(ascii: "&")).map { pair in
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            return (Self.decoded(name), Self.decoded(pair.dropFirst(name.count + 1)))
        }
    }

    /// The first value of this name.
    subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        let text = bytes.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return String(decoding: PercentEncoding.decode(text[...]), as: UTF8.self)
    }
}

// Unsafe: the caller lends the bytes of a key for this call.

/// Coding paths: positions in a document.
enum CBORPath {
    /// One step down: a key of a map or an index of an array.
    struct Step: CodingKey {
        let stringValue: String
        let intValue: Int?

        init(index: Int) {
            stringValue = "Index \(index)"
            intValue = index
        }

        init(stringValue: String) {
            self.stringValue = stringValue
            intValue = nil
        }

        init?(intValue: Int) { self.init(index: intValue) }

        /// A key from its bytes. A key that is no text is shown in diagnostic notation.
        init(encodedKey: UnsafePointer<UInt8>, _ count: Int) {
            let bytes = unsafe Array(UnsafeBufferPointer(start: encodedKey, count: min(count, 256)))
            if let text = try? CBOR.decode(String.self, from: bytes) {
                self.init(stringValue: text)
            } else {
                self.init(stringValue: (try? CBOR.diagnose(bytes)) ?? "?")
            }
        }
    }

    /// A path for people: `movies[3].title`. The document itself is "the top level".
    static func text(_ path: [any CodingKey]) -> String {
        var text = ""
        for key in path {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                if !text.isEmpty { text += "." }
                text += shortened(key.stringValue)
            }
        }
        return text.isEmpty ? "the top level" : text
    }

    /// A text from outside, shortened for an error message or a log line.
    static func shortened(_ text: String) -> String {
        text.utf8.count <= 80 ? text : text.prefix(64) + "…"
    }
}

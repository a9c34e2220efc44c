// Unsafe: an index was built of the whole document, so every item lies within its bytes.

extension CBOR {
    /// A document as JSON text on one line (RFC 8949, section 6.1).
    ///
    /// Byte strings become base64url without padding, with "~" in front of negative bignums (tag 3). Other tags are dropped. NaN,
    /// the infinities, `undefined` and unknown simple values become null. Keys that are no text become the text of their
    /// diagnostic notation. Equal bytes give equal text. Floats keep a fraction, so that they read back as floats.
    ///
    /// - Throws: ``WireError`` if the bytes are not valid CBOR or exceed the limits.
    package static func json(_ bytes: [UInt8], limits: CBORLimits = .default) throws(WireError) -> String {
        try CBORIndex.with(bytes, limits, isValid: true) { index in
            var writer = JSONWriter(index: index)
            writer.write(.root)
            return String(decoding: writer.out, as: UTF8.self)
        }
    }
}

/// Writes items as JSON. The depth that the index allowed bounds the recursion.
private struct JSONWriter {
    let index: CBORIndex
    var out: [UInt8] = []

    mutating func write(_ item: CBORIndex.Item) {
        if let (tag, content) = index.tag(of: item) { return writeTagged(tag, content) }
        let head = index.head(at: Int(item.offset))
        switch head.major {
        case 0: out += "\(head.argument)".utf8
        case 1: out += CBORText.negative(head.argument).utf8
        case 2: out += "\"\(CBORText.base64url(index.bytes(head, item)))\"".utf8
        case 3: unsafe index.withString(head, item) { unsafe CBORText.quote($0, into: &out) }
        case 4, 5: writeElements(item, isMap: head.major == 5)
        default: writeSimple(head)
        }
    }

    private mutating func writeTagged(_ tag: UInt64, _ content: CBORIndex.Item) {
        let head = index.head(at: Int(content.offset))
        guard tag == 3, index.tag(of: content) == nil, head.major == 2 else { return write(content) }
        out += "\"~\(CBORText.base64url(index.bytes(head, content)))\"".utf8
    }

    private mutating func writeElements(_ item: CBORIndex.Item, isMap: Bool) {
        out.append(UInt8(ascii: isMap ? "{" : "["))
        let index = index
        index.forEach(in: item, isMap: isMap) { number, element in
            let isKey = isMap && number % 2 == 0
            if number > 0 { out.append(UInt8(ascii: isMap && !isKey ? ":" : ",")) }
            if isKey { writeKey(element) } else { write(element) }
        }
        out.append(UInt8(ascii: isMap ? "}" : "]"))
    }

    private mutating func writeKey(_ key: CBORIndex.Item) {
        if index.head(at: Int(key.offset)).major == 3 { return write(key) }
        CBORText.quote(CBORText.diagnostic(index, key).utf8, into: &out)
    }

    private mutating func writeSimple(_ head: CBORIndex.Head) {
        let text =
            switch head.info {
            case 20: "false"
            case 21: "true"
            default: head.float.map(Self.float) ?? "null"
            }
        out += text.utf8
    }

    private static func float(_ value: Double) -> String { value.isFinite ? CBORText.float(value) : "null" }
}

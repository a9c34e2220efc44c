// Unsafe: an index was built of the whole document, so every item lies within its bytes.

extension CBOR {
    /// A document in the diagnostic notation of RFC 8949, section 8: for tests, logs and people.
    ///
    /// Indefinite lengths show as `[_ …]`, `{_ …}` and `(_ …)`. The widths of integers and floats do not show. Any well-formed
    /// document is accepted, even one with a duplicate key. Text that is not UTF-8 shows replacement characters.
    ///
    /// - Throws: ``WireError`` if the bytes are no well-formed document, or exceed the limits.
    package static func diagnose(_ bytes: [UInt8], limits: CBORLimits = .default) throws(WireError) -> String {
        try CBORIndex.with(bytes, limits, isValid: false) { CBORText.diagnostic($0, .root) }
    }
}

extension CBORText {
    /// One item of a document in diagnostic notation.
    static func diagnostic(_ index: CBORIndex, _ item: CBORIndex.Item) -> String {
        var writer = DiagnosticWriter(index: index)
        writer.write(item)
        return String(decoding: writer.out, as: UTF8.self)
    }
}

/// Writes items in diagnostic notation. The depth that the index allowed bounds the recursion.
private struct DiagnosticWriter {
    let index: CBORIndex
    var out: [UInt8] = []

    mutating func write(_ item: CBORIndex.Item) {
        if let (tag, content) = index.tag(of: item) {
            out += "\(tag)(".utf8
            write(content)
            out += ")".utf8
            return
        }
        let head = index.head(at: Int(item.offset))
        switch head.major {
        case 0: out += "\(head.argument)".utf8
        case 1: out += CBORText.negative(head.argument).utf8
        case 2, 3: if head.isIndefinite { writeChunks(item, head) } else { writeString(head) }
        case 4: writeElements(item, head, "[", "]")
        case 5: writeElements(item, head, "{", "}")
        default: writeSimple(head)
        }
    }

    private mutating func writeString(_ head: CBORIndex.Head) {
        let content = unsafe UnsafeBufferPointer(start: index.base + head.content, count: Int(head.argument))
        if head.major == 2 {
            out += unsafe "h'\(CBORText.hex(content))'".utf8
        } else {
            unsafe CBORText.quote(content, into: &out)
        }
    }

    private mutating func writeChunks(_ item: CBORIndex.Item, _ head: CBORIndex.Head) {
        let container = index.containers[Int(item.container)]
        // Of no chunks the notation has to say which kind of string they would be of.
        guard container.count > 0 else {
            out += (head.major == 2 ? "''_" : "\"\"_").utf8
            return
        }
        out += "(_ ".utf8
        var offset = Int(container.start)
        while offset < Int(container.contentEnd) {
            if offset > Int(container.start) { out += ", ".utf8 }
            let chunk = index.head(at: offset)
            writeString(chunk)
            offset = chunk.content + Int(chunk.argument)
        }
        out += ")".utf8
    }

    private mutating func writeElements(
        _ item: CBORIndex.Item, _ head: CBORIndex.Head, _ start: String, _ end: String
    ) {
        out += "\(start)\(head.isIndefinite ? "_ " : "")".utf8
        let (index, isMap) = (index, head.major == 5)
        index.forEach(in: item, isMap: isMap) { number, element in
            if number > 0 { out += (isMap && number % 2 == 1 ? ": " : ", ").utf8 }
            write(element)
        }
        out += end.utf8
    }

    private mutating func writeSimple(_ head: CBORIndex.Head) {
        let text =
            switch head.info {
            case 20: "false"
            case 21: "true"
            case 22: "null"
            case 23: "undefined"
            default: head.float.map(Self.float) ?? "simple(\(head.argument))"
            }
        out += text.utf8
    }

    private static func float(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Infinity" : "Infinity" }
        return CBORText.float(value)
    }
}

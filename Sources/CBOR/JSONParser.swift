extension CBOR {
    /// The deterministic CBOR encoding of a JSON text (RFC 8259), so that typed text can be decoded as any `Codable` type.
    ///
    /// Numbers without fraction and exponent become integers if CBOR has them (−2⁶⁴ … 2⁶⁴ − 1), all others floats. The parser is
    /// strict: no comments, no trailing commas, no duplicate keys, no lone surrogates, nothing after the value.
    ///
    /// - Throws: ``WireError/json(line:column:expected:found:)`` with the position and what was expected there.
    package static func fromJSON(text: String, limits: CBORLimits = .default) throws(WireError) -> [UInt8] {
        var text = text
        text.makeContiguousUTF8()
        guard text.utf8.count <= limits.bytesMax else {
            throw .tooLarge(what: "JSON text", size: text.utf8.count, limit: limits.bytesMax)
        }
        let core = EncodingCore.begin(limits, nil)
        defer { core.end() }
        var parser = JSONParser(core: core, source: Array(text.utf8), depthMax: limits.depthMax)
        try parser.document()
        return core.written()
    }
}

/// A recursive descent over JSON text that writes CBOR as it goes.
private struct JSONParser {
    let core: EncodingCore
    let source: [UInt8]
    let depthMax: Int
    var next = 0

    mutating func document() throws(WireError) {
        skipSpace()
        try value(depth: 0)
        skipSpace()
        guard next == source.count else { throw error("the end of the text") }
    }

    private mutating func value(depth: Int) throws(WireError) {
        switch peek() {
        case UInt8(ascii: "{"): try object(depth: depth)
        case UInt8(ascii: "["): try array(depth: depth)
        case UInt8(ascii: "\""): core.log.text(try string())
        case .some(UInt8(ascii: "0")...UInt8(ascii: "9")), UInt8(ascii: "-"): try number()
        case UInt8(ascii: "t"): try word("true", 0xF5)
        case UInt8(ascii: "f"): try word("false", 0xF4)
        case UInt8(ascii: "n"): try word("null", 0xF6)
        default: throw error("a value")
        }
    }

    private mutating func array(depth: Int) throws(WireError) {
        try within(.array, depth) { (parser, array) throws(WireError) in
            try parser.elements(UInt8(ascii: "]"), "\",\" or \"]\"") { (parser) throws(WireError) in
                let start = parser.core.log.count
                try parser.value(depth: depth + 1)
                parser.core.add(to: array, from: start)
            }
        }
    }

    private mutating func object(depth: Int) throws(WireError) {
        var names: Set<[UInt8]> = []
        try within(.map, depth) { (parser, map) throws(WireError) in
            try parser.elements(UInt8(ascii: "}"), "\",\" or \"}\"") { (parser) throws(WireError) in
                guard parser.peek() == UInt8(ascii: "\"") else { throw parser.error("a key in double quotes") }
                let keyPlace = parser.next
                let start = parser.core.log.count
                let key = try parser.string()
                guard names.insert(Array(key.utf8)).inserted else {
                    throw parser.error("a key that the object does not have yet", at: keyPlace, found: key)
                }
                parser.core.log.text(key)
                let keyLength = parser.core.log.count - start
                parser.skipSpace()
                guard parser.peek() == UInt8(ascii: ":") else { throw parser.error("\":\"") }
                parser.next += 1
                parser.skipSpace()
                try parser.value(depth: depth + 1)
                parser.core.add(to: map, from: start, keyLength: keyLength)
            }
        }
    }

    /// A container's node around what `fill` parses.
    private mutating func within(
        _ kind: EncodingCore.Node.Kind, _ depth: Int,
        _ fill: (inout JSONParser, Int) throws(WireError) -> Void
    ) throws(WireError) {
        guard depth < depthMax else { throw error("at most \(depthMax) levels of nesting") }
        let (nodes, entries) = (core.nodes.count, core.entries.count)
        let node = core.newNode(at: .top)
        core.open(node, core.nodes[node].serial, as: kind)
        if let failure = core.failure { throw failure }
        next += 1
        try fill(&self, node)
        core.seal(node)
        core.nodes.count = nodes
        core.entries.count = entries
    }

    private mutating func elements(
        _ end: UInt8, _ expected: String, _ element: (inout JSONParser) throws(WireError) -> Void
    ) throws(WireError) {
        skipSpace()
        if peek() == end {
            next += 1
            return
        }
        while true {
            try element(&self)
            skipSpace()
            let separator = peek()
            guard separator == UInt8(ascii: ",") || separator == end else { throw error(expected) }
            next += 1
            if separator == end { return }
            skipSpace()
        }
    }

    private mutating func word(_ word: String, _ byte: UInt8) throws(WireError) {
        guard source[next...].starts(with: word.utf8) else { throw error(word) }
        next += word.utf8.count
        core.log.byte(byte)
    }

    // MARK: Numbers

    private mutating func number() throws(WireError) {
        let start = next
        if peek() == UInt8(ascii: "-") { next += 1 }
        if peek() == UInt8(ascii: "0") {
            next += 1
        } else {
            try digits()
        }
        var isInteger = true
        if peek() == UInt8(ascii: ".") {
            isInteger = false
            next += 1
            try digits()
        }
        if peek() == UInt8(ascii: "e") || peek() == UInt8(ascii: "E") {
            isInteger = false
            next += 1
            if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { next += 1 }
            try digits()
        }
        let text = String(decoding: source[start..<next], as: UTF8.self)
        if isInteger, integer(text) { return }
        guard let value = Double(text), value.isFinite else {
            throw error("a number within the range of a 64-bit float", at: start, found: text)
        }
        core.log.float(value)
    }

    private mutating func digits() throws(WireError) {
        let start = next
        while let byte = peek(), byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { next += 1 }
        guard next > start else { throw error("a digit") }
    }

    /// Writes an integer if CBOR has it. Returns whether it does.
    private func integer(_ text: String) -> Bool {
        if let value = Int64(text) {
            core.log.signed(value)
        } else if let value = UInt64(text) {
            core.log.head(0x00, value)
        } else if text == "-18446744073709551616" {
            core.log.head(0x20, UInt64.max)
        } else if text.first == "-", let size = UInt64(text.dropFirst()) {
            core.log.head(0x20, size - 1)
        } else {
            return false
        }
        return true
    }

    // MARK: Strings

    private mutating func string() throws(WireError) -> String {
        next += 1
        var bytes: [UInt8] = []
        while true {
            let start = next
            while let byte = peek(), byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { next += 1 }
            bytes += source[start..<next]
            switch peek() {
            case UInt8(ascii: "\""):
                next += 1
                return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"):
                try escape(into: &bytes)
            case nil:
                throw error("the closing quote of a string")
            default:
                throw error("an escape instead of a control character")
            }
        }
    }

    private mutating func escape(into bytes: inout [UInt8]) throws(WireError) {
        let start = next
        next += 1
        let letter = peek()
        next += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(letter ?? 0)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"):
            var scalar = try unit(start)
            if scalar & 0xFC00 == 0xD800, peek() == UInt8(ascii: "\\"), next + 1 < source.count,
                source[next + 1] == UInt8(ascii: "u")
            {
                next += 2
                let low = try unit(start)
                guard low & 0xFC00 == 0xDC00 else { throw surrogate(start) }
                scalar = 0x10000 + (scalar & 0x3FF) << 10 + (low & 0x3FF)
            }
            guard let character = Unicode.Scalar(scalar) else { throw surrogate(start) }
            bytes += String(character).utf8
        default:
            throw error("one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u", at: start)
        }
    }

    private mutating func unit(_ start: Int) throws(WireError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw error("four hexadecimal digits after \\u", at: start)
            }
            value = value << 4 | UInt32(digit)
            next += 1
        }
        return value
    }

    private func surrogate(_ place: Int) -> WireError {
        error("a pair of surrogates, the high one first", at: place)
    }

    // MARK: Positions

    private func peek() -> UInt8? { next < source.count ? source[next] : nil }

    private mutating func skipSpace() {
        while let byte = peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { next += 1 }
    }

    private func error(_ expected: String) -> WireError { error(expected, at: next) }

    private func error(_ expected: String, at place: Int, found: String? = nil) -> WireError {
        let place = min(place, source.count)
        let before = source[..<place]
        let line = before.count { $0 == 0x0A } + 1
        let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let column = String(decoding: source[lineStart..<place], as: UTF8.self).count + 1
        let rest = String(decoding: source[place..<min(place + 48, source.count)], as: UTF8.self).prefix(12)
        let shown = found ?? (place == source.count ? nil : String(rest))
        return .json(
            line: line, column: column, expected: expected,
            found: shown.map { CBORText.quoted(CBORPath.shortened($0)) } ?? "the end of the text")
    }
}

// Unsafe: the bytes of a page are lent by the caller of the scan, and nothing keeps them after it.

internal import Glibc

/// Finds out how a page is encoded, and turns it into UTF-8.
enum Charset {
    /// The charset in a `Content-Type`, such as `UTF-8` in `text/html; charset="UTF-8"`.
    static func parameter(of contentType: String) -> String? {
        for parameter in contentType.split(separator: ";").dropFirst() {
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].filter({ !$0.isWhitespace }).lowercased() == "charset" else { continue }
            let name = parts[1].filter { !$0.isWhitespace && $0 != "\"" && $0 != "'" }
            return name.isEmpty ? nil : name
        }
        return nil
    }

    /// The page as valid UTF-8 without zero bytes.
    ///
    /// A byte order mark decides before the server, the server before the page's own `<meta>`, as in the HTML standard.
    static func decode(_ bytes: [UInt8], named charset: String?) -> [UInt8] {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return utf8(Array(bytes.dropFirst(3))) }
        if bytes.starts(with: [0xFE, 0xFF]) { return utf16(bytes, isBigEndian: true) }
        if bytes.starts(with: [0xFF, 0xFE]) { return utf16(bytes, isBigEndian: false) }
        if let name = charset.map(normalise) {
            switch name {
            case "utf-16", "utf-16le": return utf16(bytes, isBigEndian: false)
            case "utf-16be": return utf16(bytes, isBigEndian: true)
            default: if let decoded = decode(bytes, by: name) { return decoded }
            }
        }
        // A page that says in ASCII that it is UTF-16 is not.
        if let name = declared(bytes).map(normalise), !name.hasPrefix("utf-16"), let decoded = decode(bytes, by: name) {
            return decoded
        }
        if !isUTF8(bytes), let decoded = decode(bytes, by: "windows-1252") { return decoded }
        return utf8(bytes)
    }

    private static func normalise(_ name: String) -> String {
        switch name.lowercased() {
        case "utf8", "utf-8": "utf-8"
        // The WHATWG encoding standard: pages that say so mean windows-1252.
        case "iso-8859-1", "iso8859-1", "latin1", "latin-1", "ascii", "us-ascii": "windows-1252"
        case let other: other
        }
    }

    private static func decode(_ bytes: [UInt8], by name: String) -> [UInt8]? {
        name == "utf-8" ? utf8(bytes) : SystemCharset.convert(bytes, from: name).map { utf8($0) }
    }

    /// The charset that a `<meta>` in the first bytes of a page names.
    private static func declared(_ bytes: [UInt8]) -> String? {
        let head = bytes.prefix(2048).map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        var rest = head[...]
        while let tag = find("<meta", in: rest) {
            let end = head[tag...].firstIndex(of: UInt8(ascii: ">")) ?? head.endIndex
            if var index = find("charset", in: head[tag..<end]).map({ $0 + 7 }) {
                while index < end, head[index] <= 0x20 { index += 1 }
                if index < end, head[index] == UInt8(ascii: "=") {
                    let ends = " \t\r\n\"';/>".utf8
                    let name = head[(index + 1)..<end].drop { ends.contains($0) }.prefix { !ends.contains($0) }
                    if !name.isEmpty { return String(decoding: name, as: UTF8.self) }
                }
            }
            rest = head[end...]
        }
        return nil
    }

    private static func find(_ word: StaticString, in bytes: ArraySlice<UInt8>) -> Int? {
        let count = word.utf8CodeUnitCount
        guard bytes.count >= count else { return nil }
        return (bytes.startIndex...(bytes.endIndex - count)).first { start in
            (0..<count).allSatisfy { unsafe bytes[start + $0] == word.utf8Start[$0] }
        }
    }

    private static func isUTF8(_ bytes: [UInt8]) -> Bool {
        (try? UTF8Span(validating: bytes.span)) != nil
    }

    /// Zero bytes, which end a text for libxml2, become spaces, and what is no UTF-8 becomes U+FFFD.
    private static func utf8(_ bytes: [UInt8]) -> [UInt8] {
        let text = isUTF8(bytes) ? bytes : Array(String(decoding: bytes, as: UTF8.self).utf8)
        let hasZero = unsafe text.withUnsafeBytes { bytes in
            unsafe bytes.baseAddress.map { unsafe memchr($0, 0, bytes.count) != nil } ?? false
        }
        return hasZero ? text.map { $0 == 0 ? 0x20 : $0 } : text
    }

    private static func utf16(_ bytes: [UInt8], isBigEndian: Bool) -> [UInt8] {
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        var index = 0
        while index + 1 < bytes.count {
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            units.append(isBigEndian ? first << 8 | second : second << 8 | first)
            index += 2
        }
        if units.first == 0xFEFF { units.removeFirst() }
        return utf8(Array(String(decoding: units, as: UTF16.self).utf8))
    }
}

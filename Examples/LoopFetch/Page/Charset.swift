// Unsafe: the system converts between memory that is lent for the call.

internal import Glibc
internal import LoopCore

/// The encoding of a page, converted by the system's iconv.
struct Charset: Equatable {
    /// The name that the system uses.
    private let name: String

    static let utf8 = Charset(name: "UTF-8")
    static let windows1252 = Charset(name: "CP1252")

    private init(name: String) { self.name = name }

    /// Finds an encoding. Nil if neither the web nor the system knows it.
    /// - Parameter label: the name of an encoding on the web.
    init?(label: String) {
        let label = label.lowercased().filter { !$0.isWhitespace }
        guard !label.isEmpty, label.utf8.allSatisfy(Self.isInLabel) else { return nil }
        name = Self.names[label] ?? label
        if self != .utf8, Converter(from: name, to: "UTF-8") == nil { return nil }
    }

    /// The encoding of a byte order mark at the beginning, or nil if there is none.
    init?(markOf bytes: [UInt8]) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            self = .utf8
        } else if bytes.starts(with: [0xFE, 0xFF]) {
            self.init(name: "UTF-16BE")
        } else if bytes.starts(with: [0xFF, 0xFE]) {
            self.init(name: "UTF-16LE")
        } else {
            return nil
        }
    }

    /// Whether it is UTF-16. A page that declares this in ASCII is UTF-8.
    var isUTF16: Bool { name.hasPrefix("UTF-16") }

    /// Whether the bytes may be UTF-16 in this order of bytes, by their tags and line ends.
    func isLikely(_ bytes: [UInt8]) -> Bool {
        var (bigCount, littleCount) = (0, 0)
        for index in stride(from: 0, to: bytes.count - 1, by: 2) {
            switch (bytes[index], bytes[index + 1]) {
            case (0, UInt8(ascii: "<")), (0, UInt8(ascii: "\n")): bigCount += 1
            case (UInt8(ascii: "<"), 0), (UInt8(ascii: "\n"), 0): littleCount += 1
            default: break
            }
        }
        return bytes.contains(0) && (name == "UTF-16BE" ? bigCount >= littleCount : littleCount >= bigCount)
    }

    /// The label after `charset` in a `Content-Type` such as `text/html; charset="UTF-8"`, or after another name.
    static func parameter(_ name: String, of text: String) -> String? {
        var rest = Substring(text.lowercased())
        while let word = rest.firstRange(of: name) {
            rest = rest[word.upperBound...].drop(while: \.isWhitespace)
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst().drop(while: \.isWhitespace)
            if let quote = rest.first, quote == "\"" || quote == "'" {
                rest = rest.dropFirst().prefix { $0 != quote }
            } else {
                rest = rest.prefix { !$0.isWhitespace && $0 != ";" }
            }
            return rest.isEmpty ? nil : String(rest)
        }
        return nil
    }

    /// The text as valid UTF-8, without a byte order mark. Invalid bytes become U+FFFD.
    func decode(_ bytes: [UInt8]) -> [UInt8] {
        if self == .utf8 {
            let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
            return Self.isUTF8(text) ? text : Array(String(decoding: text, as: UTF8.self).utf8)
        }
        // GBK is decoded as what has replaced it, but not encoded (Encoding standard section 10.1).
        guard let converter = Converter(from: name == "GBK" ? "GB18030" : name, to: "UTF-8") else { return bytes }
        var text = converter.convert(bytes) { [0xEF, 0xBF, 0xBD] }
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text.removeFirst(3) }
        return text
    }

    /// The query of a URL as a page in this encoding sends it, with every character beyond ASCII percent-encoded.
    func encode(query: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard self != .utf8, !isUTF16, let converter = Converter(from: "UTF-8", to: name) else { return query }
        var output: [UInt8] = []
        for scalar in String(decoding: query, as: UTF8.self).unicodeScalars {
            if scalar.isASCII {
                output.append(UInt8(truncatingIfNeeded: scalar.value))
                continue
            }
            let character = Array(scalar.utf8)
            let number = Array("&#\(scalar.value);".utf8)
            for byte in converter.convert(character, otherwise: { number }, skipping: character.count) {
                if PercentEncoding.isUnreserved(byte) {
                    output.append(byte)
                } else {
                    PercentEncoding.append(byte, to: &output)
                }
            }
        }
        return output[...]
    }

    static func isUTF8(_ bytes: [UInt8]) -> Bool { (try? UTF8Span(validating: bytes.span)) != nil }

    /// Other characters are rejected, because such a label could make the system do more than a conversion.
    private static func isInLabel(_ byte: UInt8) -> Bool {
        byte.isLetter || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "-_.:".utf8.contains(byte)
    }

    /// The labels with another meaning on the web than for the system, and those that only the web knows (Encoding standard
    /// section 4.2).
    private static let names: [String: String] = {
        let lines: [(String, String)] = [
            ("UTF-8", "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8"),
            ("UTF-16LE", "utf-16 utf-16le csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff"),
            ("UTF-16BE", "utf-16be unicodefffe"),
            (
                "CP1252",
                """
                windows-1252 cp1252 x-cp1252 ansi_x3.4-1968 ascii us-ascii cp819 csisolatin1 ibm819 iso-8859-1 iso8859-1 \
                iso88591 iso_8859-1 iso_8859-1:1987 iso-ir-100 l1 latin1 latin-1
                """
            ),
            (
                "CP1254",
                "x-cp1254 csisolatin5 iso-8859-9 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 iso-ir-148 l5 latin5"
            ),
            ("CP874", "windows-874 dos-874 iso-8859-11 iso8859-11 iso885911 tis-620"),
            ("GBK", "gbk x-gbk gb2312 gb_2312 gb_2312-80 chinese csgb2312 csiso58gb231280 iso-ir-58"),
            ("CP932", "shift_jis shift-jis sjis x-sjis csshiftjis ms932 ms_kanji windows-31j"),
            (
                "CP949",
                """
                euc-kr cseuckr korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 csksc56011987 iso-ir-149 windows-949
                """
            ),
            ("BIG5-HKSCS", "big5 cn-big5 csbig5 x-x-big5"), ("EUC-JP", "x-euc-jp"),
            ("ISO-8859-8", "iso-8859-8-i logical visual csiso88598i csiso88598e"), ("KOI8-R", "koi koi8 koi8_r"),
            ("KOI8-U", "koi8-ru"), ("MACINTOSH", "x-mac-roman"), ("MAC-CYRILLIC", "x-mac-cyrillic x-mac-ukrainian"),
            ("CP1250", "x-cp1250"), ("CP1251", "x-cp1251"), ("CP1253", "x-cp1253"), ("CP1255", "x-cp1255"),
            ("CP1256", "x-cp1256"), ("CP1257", "x-cp1257"), ("CP1258", "x-cp1258"),
        ]
        var names: [String: String] = [:]
        for (name, labels) in lines { for label in labels.split(separator: " ") { names[String(label)] = name } }
        return names
    }()
}

/// An owned conversion between two encodings.
@safe private struct Converter: ~Copyable {
    private let handle: iconv_t

    init?(from source: String, to target: String) {
        guard let handle = unsafe iconv_open(target, source), unsafe handle != iconv_t(bitPattern: -1) else {
            return nil
        }
        unsafe self.handle = handle
    }

    deinit { unsafe iconv_close(handle) }

    /// Converts a whole text, and resets the conversion.
    ///
    /// - Parameters:
    ///   - otherwise: the replacement of bytes that are no character, or have none in the other encoding.
    ///   - skipping: how many bytes are replaced.
    borrowing func convert(_ bytes: [UInt8], otherwise replacement: () -> [UInt8], skipping skipped: Int = 1) -> [UInt8]
    {
        let failed = -1
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count + bytes.count / 2)
        var input = bytes
        let room = 1 << 14
        let piece = UnsafeMutablePointer<CChar>.allocate(capacity: room)
        defer { unsafe piece.deallocate() }
        unsafe input.withUnsafeMutableBytes { buffer in
            var from = unsafe buffer.bindMemory(to: CChar.self).baseAddress
            var left = buffer.count
            var isFlushed = false
            while !isFlushed {
                var to: UnsafeMutablePointer<CChar>? = unsafe piece
                var free = room
                // Without input, the conversion is flushed.
                isFlushed = left == 0
                let result =
                    unsafe isFlushed ? iconv(handle, nil, nil, &to, &free) : iconv(handle, &from, &left, &to, &free)
                let reason = errno
                unsafe output.append(contentsOf: UnsafeRawBufferPointer(start: piece, count: room - free))
                if result == failed, reason != E2BIG, left > 0 {
                    output += replacement()
                    let count = min(skipped, left)
                    unsafe from = from.map { unsafe $0 + count }
                    left -= count
                }
            }
        }
        return output
    }
}

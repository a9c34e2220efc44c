// Unsafe: the system and libidn2 use what they get only during the call, and their result is freed once.

internal import CIDN
internal import Glibc

/// Host names in canonical form (WHATWG URL section 3.5).
enum HostName {
    /// A name in lower case, an international one in Punycode, and an IPv4 address as four numbers.
    ///
    /// It is nil if the name is not UTF-8, has forbidden characters, or ends in a number without being an address.
    static func ascii(_ name: [UInt8]) -> [UInt8]? {
        guard name.allSatisfy({ $0 < 0x80 }) else {
            return String(validating: name, as: UTF8.self).flatMap(punycode).flatMap(withoutOddNumbers)
        }
        return withoutOddNumbers(name.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 })
    }

    /// Browsers allow what IDNA 2008 forbids, such as emoji (UTS 46, nontransitional). libidn2 allows it only in transitional
    /// processing, which is the same for names without the characters that it replaces.
    private static func punycode(_ name: String) -> [UInt8]? {
        guard !name.utf8.contains(0) else { return nil }
        var output: UnsafeMutablePointer<CChar>?
        var result = unsafe idn2_to_ascii_8z(name, &output, flags(IDN2_NONTRANSITIONAL))
        if result == IDN2_DISALLOWED.rawValue, !name.unicodeScalars.contains(where: deviations.contains) {
            result = unsafe idn2_to_ascii_8z(name, &output, flags(IDN2_TRANSITIONAL))
        }
        guard result == IDN2_OK.rawValue, let ascii = unsafe output else { return nil }
        defer { unsafe idn2_free(ascii) }
        return unsafe Array(String(cString: ascii).utf8)
    }

    /// Without the round trip, which refuses names such as `ü$` that browsers allow.
    private static func flags(_ processing: idn2_flags) -> Int32 {
        Int32(processing.rawValue | IDN2_NO_ALABEL_ROUNDTRIP.rawValue)
    }

    /// The characters that transitional processing replaces (UTS 46 section 2.3).
    private static let deviations: Set<Unicode.Scalar> = ["\u{DF}", "\u{3C2}", "\u{200C}", "\u{200D}"]

    /// Normalises IPv4 addresses: `127.1`, `0x7f000001` and `127.0.0.1` are one address.
    private static func withoutOddNumbers(_ name: [UInt8]) -> [UInt8]? {
        let labels = (name.last == UInt8(ascii: ".") ? name.dropLast() : name[...]).split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let last = labels.last, isNumber(last) else { return name }
        var address = in_addr()
        // The system does not accept a number without digits as zero.
        let numbers = labels.map { $0.elementsEqual("0x".utf8) ? "0" : String(decoding: $0, as: UTF8.self) }
        let text = numbers.joined(separator: ".")
        guard !text.utf8.contains(where: { $0 <= 0x20 }), unsafe inet_aton(text, &address) != 0 else { return nil }
        let number = UInt32(bigEndian: address.s_addr)
        return Array([24, 16, 8, 0].map { String(number >> $0 & 255) }.joined(separator: ".").utf8)
    }

    private static func isNumber(_ label: ArraySlice<UInt8>) -> Bool {
        let isHexadecimal = label.starts(with: "0x".utf8)
        let digits = label.dropFirst(isHexadecimal ? 2 : 0)
        return !label.isEmpty
            && digits.allSatisfy {
                Character(Unicode.Scalar($0)).hexDigitValue.map { isHexadecimal || $0 < 10 } ?? false
            }
    }
}

// Unsafe: the system and libidn2 use what they are passed only during the call, and their answer is freed once.

internal import CIDN
internal import Glibc

/// Converts host names to the form in which they are looked up (WHATWG URL section 3.5).
enum HostName {
    /// Returns a name in lower case, an international one in Punycode, and an IPv4 address as four numbers.
    ///
    /// It returns nil if the name is not UTF-8, if it has characters that no host has, or if it ends in a number and is
    /// no address.
    static func ascii(_ name: [UInt8]) -> [UInt8]? {
        guard name.allSatisfy({ $0 < 0x80 }) else {
            return String(validating: name, as: UTF8.self).flatMap(punycode).flatMap(withoutOddNumbers)
        }
        return withoutOddNumbers(name.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 })
    }

    private static func punycode(_ name: String) -> [UInt8]? {
        var output: UnsafeMutablePointer<CChar>?
        let flags = Int32(IDN2_NONTRANSITIONAL.rawValue)
        guard !name.utf8.contains(0), unsafe idn2_to_ascii_8z(name, &output, flags) == IDN2_OK.rawValue,
            let ascii = unsafe output
        else { return nil }
        defer { unsafe idn2_free(ascii) }
        return unsafe Array(String(cString: ascii).utf8)
    }

    /// `127.1`, `0x7f000001` and `127.0.0.1` are one address.
    private static func withoutOddNumbers(_ name: [UInt8]) -> [UInt8]? {
        let labels = (name.last == UInt8(ascii: ".") ? name.dropLast() : name[...]).split(
            separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let last = labels.last, isNumber(last) else { return name }
        var address = in_addr()
        // `inet_aton` refuses `0x`, which the standard reads as zero.
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

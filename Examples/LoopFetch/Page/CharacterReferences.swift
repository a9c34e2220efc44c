// Unsafe: the bytes of a value are lent by the caller for the call.

internal import CCMarkGFM

/// Decodes the values of attributes: references such as `&amp;`, line ends and zero bytes (HTML standard, 13.2.5.72).
enum CharacterReferences {
    static func decoded(_ value: UnsafeBufferPointer<UInt8>) -> String {
        guard unsafe value.contains(where: { $0 == UInt8(ascii: "&") || $0 == 0 || $0 == 0x0D }) else {
            return unsafe String(decoding: value, as: UTF8.self)
        }
        var output: [UInt8] = []
        output.reserveCapacity(value.count)
        var index = 0
        while index < value.count {
            let byte = unsafe value[index]
            index += 1
            switch byte {
            case UInt8(ascii: "&"):
                unsafe index += appendReference(UnsafeBufferPointer(rebasing: value[index...]), to: &output)
            case 0: output += "\u{FFFD}".utf8
            case 0x0D:
                if index < value.count, unsafe value[index] == 0x0A { index += 1 }
                output.append(0x0A)
            default: output.append(byte)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends the characters of the reference after an `&`, or the `&` itself.
    ///
    /// - Returns: the number of bytes that were read.
    private static func appendReference(_ rest: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) -> Int {
        if unsafe rest.first == UInt8(ascii: "#"), let number = unsafe Number(rest) {
            output += number.scalar.utf8
            return number.count
        }
        let name = unsafe rest.prefix { $0.isLetterOrDigit }
        let next = unsafe name.endIndex < rest.count ? rest[name.endIndex] : 0
        let hasEnd = next == UInt8(ascii: ";")
        // No name is longer than 31 letters and a semicolon.
        let isReference =
            unsafe 1..<32 ~= name.count && (hasEnd || next != UInt8(ascii: "=") && isKnownWithoutEnd(name))
        if isReference, unsafe appendNamed(Array(name) + [UInt8(ascii: ";")], to: &output) {
            return unsafe name.count + (hasEnd ? 1 : 0)
        }
        output.append(UInt8(ascii: "&"))
        return 0
    }

    private static func appendNamed(_ name: [UInt8], to output: inout [UInt8]) -> Bool {
        var bytes: [UInt8] = Array(repeating: 0, count: 8)
        let written = unsafe loop_cmark_reference(name, Int32(name.count), &bytes)
        output += bytes.prefix(Int(written))
        return written > 0
    }

    /// A numeric reference: `#` and decimal digits, or `#x` and hexadecimal ones.
    private struct Number {
        let scalar: Unicode.Scalar
        private(set) var count: Int

        init?(_ rest: UnsafeBufferPointer<UInt8>) {
            let isHexadecimal = unsafe rest.count > 1 && rest[1] | 0x20 == UInt8(ascii: "x")
            count = isHexadecimal ? 2 : 1
            let start = count
            var value: UInt32 = 0
            while count < rest.count,
                let digit = unsafe Character(Unicode.Scalar(rest[count])).hexDigitValue, isHexadecimal || digit < 10
            {
                value = min(value * (isHexadecimal ? 16 : 10) + UInt32(digit), 0x110000)
                count += 1
            }
            if count == start { return nil }
            if count < rest.count, unsafe rest[count] == UInt8(ascii: ";") { count += 1 }
            if 0x80..<0xA0 ~= value { value = CharacterReferences.windows1252[Int(value - 0x80)] }
            scalar = value == 0 ? "\u{FFFD}" : Unicode.Scalar(value) ?? "\u{FFFD}"
        }
    }

    /// The characters for the numbers 0x80 to 0x9F, which pages use as in windows-1252.
    private static let windows1252: [UInt32] = [
        0x20AC, 0x81, 0x201A, 0x192, 0x201E, 0x2026, 0x2020, 0x2021, 0x2C6, 0x2030, 0x160, 0x2039, 0x152, 0x8D, 0x17D,
        0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC, 0x2122, 0x161, 0x203A, 0x153, 0x9D,
        0x17E, 0x178,
    ]

    private static func isKnownWithoutEnd(_ name: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        unsafe namesWithoutEnd.contains(Substring(decoding: name, as: UTF8.self))
    }

    /// The names that need no semicolon, because they are older than that rule of HTML.
    private static let namesWithoutEnd = Set(
        """
        AElig AMP Aacute Acirc Agrave Aring Atilde Auml COPY Ccedil ETH Eacute Ecirc Egrave Euml GT Iacute Icirc Igrave \
        Iuml LT Ntilde Oacute Ocirc Ograve Oslash Otilde Ouml QUOT REG THORN Uacute Ucirc Ugrave Uuml Yacute aacute \
        acirc acute aelig agrave amp aring atilde auml brvbar ccedil cedil cent copy curren deg divide eacute ecirc \
        egrave eth euml frac12 frac14 frac34 gt iacute icirc iexcl igrave iquest iuml laquo lt macr micro middot nbsp \
        not ntilde oacute ocirc ograve ordf ordm oslash otilde ouml para plusmn pound quot raquo reg sect shy sup1 sup2 \
        sup3 szlig thorn times uacute ucirc ugrave uml uuml yacute yen yuml
        """.split(separator: " "))
}

extension UInt8 {
    var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
    fileprivate var isLetterOrDigit: Bool { isLetter || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

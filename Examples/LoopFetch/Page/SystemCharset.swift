// Unsafe: the system converts between memory that is lent for the call.

internal import CXML2
internal import Glibc

/// The character sets that the system can convert from.
enum SystemCharset {
    /// The text as UTF-8, by the encodings that the system knows; nil where it knows none of this name.
    static func convert(_ bytes: [UInt8], from charset: String) -> [UInt8]? {
        guard charset.utf8.allSatisfy(isNameByte) else { return nil }
        let converter = unsafe iconv_open("UTF-8", charset)
        guard unsafe converter != iconv_t(bitPattern: -1) else { return nil }
        defer { unsafe iconv_close(converter) }
        let failed = -1
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count * 2)
        var input = bytes
        let piece = UnsafeMutablePointer<CChar>.allocate(capacity: pieceBytes)
        defer { unsafe piece.deallocate() }
        unsafe input.withUnsafeMutableBytes { buffer in
            var from = unsafe buffer.bindMemory(to: CChar.self).baseAddress
            var left = buffer.count
            while left > 0 {
                var to: UnsafeMutablePointer<CChar>? = unsafe piece
                var room = pieceBytes
                let result = unsafe iconv(converter, &from, &left, &to, &room)
                let written = unsafe UnsafeRawBufferPointer(start: piece, count: pieceBytes - room)
                unsafe output.append(contentsOf: written)
                if result == failed, errno != E2BIG, left > 0 {
                    // What is no character in this charset becomes U+FFFD.
                    output += [0xEF, 0xBF, 0xBD]
                    unsafe from = from.map { unsafe $0 + 1 }
                    left -= 1
                }
            }
        }
        return output
    }

    private static let pieceBytes = 1 << 14

    /// A name with other characters could ask the system for more than a conversion.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: ":"):
            true
        default: false
        }
    }
}

// Unsafe: the caller lends the bytes for this call, and every read is checked against their count.

/// Whether bytes are UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF (RFC 3629).
enum UTF8Check {
    static func isValid(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        var index = 0
        while true {
            while index + 8 <= count {
                let word = unsafe UnsafeRawPointer(bytes + index).loadUnaligned(as: UInt64.self)
                guard word & 0x8080_8080_8080_8080 == 0 else { break }
                index += 8
            }
            while index < count, unsafe bytes[index] < 0x80 { index += 1 }
            guard index < count else { return true }
            let length = unsafe sequence(bytes + index, count - index)
            guard length > 0 else { return false }
            index += length
        }
    }

    /// The length of the character that starts here; 0 if none does.
    private static func sequence(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int {
        func isTail(_ index: Int, _ range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
            unsafe index < count && range.contains(bytes[index])
        }
        switch unsafe bytes[0] {
        case 0...0x7F: return 1
        case 0xC2...0xDF: return isTail(1) ? 2 : 0
        case 0xE0: return isTail(1, 0xA0...0xBF) && isTail(2) ? 3 : 0
        case 0xED: return isTail(1, 0x80...0x9F) && isTail(2) ? 3 : 0
        case 0xE1...0xEF: return isTail(1) && isTail(2) ? 3 : 0
        case 0xF0: return isTail(1, 0x90...0xBF) && isTail(2) && isTail(3) ? 4 : 0
        case 0xF1...0xF3: return isTail(1) && isTail(2) && isTail(3) ? 4 : 0
        case 0xF4: return isTail(1, 0x80...0x8F) && isTail(2) && isTail(3) ? 4 : 0
        default: return 0
        }
    }
}

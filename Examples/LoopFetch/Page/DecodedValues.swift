// Unsafe: the bytes of a page are lent by the caller of the scan, and nothing keeps them after it.

/// Values of attributes with `&amp;` and the like put in; they stay until the page is read.
@safe struct DecodedValues: ~Copyable {
    /// Values together never are longer than the page that they are from.
    private let capacity: Int
    private var storage: UnsafeMutablePointer<UInt8>?
    private var count = 0

    init(capacity: Int) { self.capacity = capacity }

    deinit { unsafe storage?.deallocate() }

    /// What a value means; nil where it has a reference that is not among the plainest.
    mutating func decoded(_ value: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        guard unsafe value.contains(UInt8(ascii: "&")) else { return unsafe value }
        let storage = unsafe storage ?? .allocate(capacity: capacity)
        unsafe self.storage = storage
        let start = count
        var index = 0
        while index < value.count {
            var byte = unsafe value[index]
            index += 1
            if byte == UInt8(ascii: "&") {
                let isNumber = unsafe index < value.count && value[index] == UInt8(ascii: "#")
                let start = isNumber ? index + 1 : index
                let end = unsafe value[start...].firstIndex { !$0.isInName } ?? value.count
                let next = unsafe end < value.count ? value[end] : 0
                if next == UInt8(ascii: ";") {
                    let name = unsafe value[start..<end]
                    guard let meant = unsafe isNumber ? Self.character(name) : Self.meaning(of: name) else {
                        return nil
                    }
                    byte = meant
                    index = end + 1
                } else if isNumber || next == UInt8(ascii: "#") || next >= 0x80 {
                    return nil
                }
            }
            unsafe storage[count] = byte
            count += 1
        }
        return unsafe UnsafeBufferPointer(start: storage + start, count: count - start)
    }

    private static func meaning(of name: Slice<UnsafeBufferPointer<UInt8>>) -> UInt8? {
        if unsafe name.elementsEqual("amp".utf8) { return UInt8(ascii: "&") }
        if unsafe name.elementsEqual("lt".utf8) { return UInt8(ascii: "<") }
        if unsafe name.elementsEqual("gt".utf8) { return UInt8(ascii: ">") }
        if unsafe name.elementsEqual("quot".utf8) { return UInt8(ascii: "\"") }
        return nil
    }

    /// The character with a decimal number; nil where it is none of ASCII's that can be seen.
    private static func character(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> UInt8? {
        guard unsafe (2...3).contains(digits.count) else { return nil }
        var number = 0
        for place in unsafe digits.indices {
            let digit = unsafe digits[place]
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = 10 * number + Int(digit - UInt8(ascii: "0"))
        }
        return (0x21...0x7E).contains(number) ? UInt8(number) : nil
    }
}

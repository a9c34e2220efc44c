// Unsafe: an index was built of the whole document, so every item lies within its bytes.

/// Integers beyond 64 bits, which are byte strings under tags 2 and 3. The coder has no type for them, but the texts show them.
enum CBORBignum {
    /// The decimal digits of a byte string under such a tag. Nil if it is none, or longer than 64 bytes, because the time to
    /// convert it grows with the square of its length.
    static func decimal(_ index: CBORIndex, _ item: CBORIndex.Item, isNegative: Bool) -> String? {
        let head = index.head(at: Int(item.offset))
        guard unsafe index.base[Int(item.offset)] >> 5 == 2, !head.isIndefinite, head.argument <= 64 else { return nil }
        var number = (0..<Int(head.argument)).map { unsafe index.base[head.content + $0] }
        if isNegative { number = adding1(number) }
        var digits: [UInt8] = []
        while number.contains(where: { $0 != 0 }) {
            var rest = 0
            for place in number.indices {
                let value = rest << 8 | Int(number[place])
                number[place] = UInt8(value / 10)
                rest = value % 10
            }
            digits.append(UInt8(ascii: "0") + UInt8(rest))
        }
        let text = digits.isEmpty ? "0" : String(decoding: digits.reversed(), as: UTF8.self)
        return isNegative ? "-" + text : text
    }

    /// −1 − n has the digits of n + 1.
    private static func adding1(_ number: [UInt8]) -> [UInt8] {
        var number = [0] + number
        for place in number.indices.reversed() {
            number[place] &+= 1
            if number[place] != 0 { break }
        }
        return number
    }
}

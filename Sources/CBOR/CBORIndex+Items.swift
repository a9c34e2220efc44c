// Unsafe: an index was built of the whole document, so every item lies within its bytes.

/// Steps through a document that was read before. Its form is known to be right, so lengths can be trusted.
extension CBORIndex {
    /// The head of an item without its tags: its kind, its argument, and the offset of its content.
    struct Head {
        var major: UInt8
        var info: UInt8
        var argument: UInt64
        /// The first byte after the head.
        var content: Int

        /// Whether it is a string, array or map that ends with a break.
        var isIndefinite: Bool { info == 31 }

        /// The value of a float, or nil for any other item.
        var float: Double? {
            switch (major, info) {
            case (7, 25): CBORFloat.value(half: UInt16(truncatingIfNeeded: argument))
            case (7, 26): Double(Float(bitPattern: UInt32(truncatingIfNeeded: argument)))
            case (7, 27): Double(bitPattern: argument)
            default: nil
            }
        }
    }

    /// The tag that an item begins with, and the item that it tags, or nil if it begins with none.
    func tag(of item: Item) -> (number: UInt64, content: Item)? {
        let first = unsafe base[Int(item.offset)]
        guard first >> 5 == 6 else { return nil }
        let width = Self.width(first & 31)
        let number = first & 31 < 24 ? UInt64(first & 31) : argument(at: Int(item.offset) + 1, width: width)
        return (number, Item(offset: item.offset + 1 + UInt32(width), container: item.container))
    }

    /// Calls `body` with each element of an array, or with the keys and values of a map in turn, and its number.
    func forEach(in item: Item, isMap: Bool, _ body: (Int, Item) -> Void) {
        let container = unsafe containers[Int(item.container)]
        var element = Item(offset: container.start, container: item.container + 1)
        for number in 0..<Int(container.count) * (isMap ? 2 : 1) {
            body(number, element)
            element = after(element)
        }
    }

    /// A copy of the bytes of a string item.
    func bytes(_ head: Head, _ item: Item) -> [UInt8] { unsafe withString(head, item) { unsafe Array($0) } }

    /// The head at this offset, after its tags.
    @inline(__always)
    func head(at offset: Int) -> Head {
        var offset = offset
        while true {
            let first = unsafe base[offset]
            let (major, info) = (first >> 5, first & 31)
            if info < 24 {
                if major == 6 {
                    offset += 1
                    continue
                }
                return Head(major: major, info: info, argument: UInt64(info), content: offset + 1)
            }
            let width = Self.width(info)
            if major == 6 {
                offset += 1 + width
                continue
            }
            return Head(
                major: major, info: info, argument: argument(at: offset + 1, width: width), content: offset + 1 + width)
        }
    }

    /// The number of argument bytes that follow a head byte.
    @inline(__always)
    static func width(_ info: UInt8) -> Int {
        info < 24 || info > 27 ? 0 : 1 << Int(info - 24)
    }

    @inline(__always)
    func argument(at offset: Int, width: Int) -> UInt64 {
        unsafe CBORScan.argument(base + offset, width: width)
    }

    /// The item after this one.
    @inline(__always)
    func after(_ item: Item) -> Item {
        // Most items are numbers, short strings and simple values.
        let first = unsafe base[Int(item.offset)]
        let length = unsafe shortLengths[Int(first)]
        if length != 0 { return Item(offset: item.offset &+ UInt32(length), container: item.container) }
        return first & 0xC0 == 0x80 ? after(container: item.container) : afterLong(item)
    }

    /// The length of an item by its first byte, or 0 if the first byte does not determine it. Only the text of such an item can be
    /// invalid.
    nonisolated(unsafe) static let shortLengths: UnsafePointer<UInt8> = {
        let lengths = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
        for first in 0..<256 {
            let (major, info) = (first >> 5, UInt8(first & 31))
            unsafe lengths[first] =
                switch (major, info) {
                case (0, 0..<28), (1, 0..<28), (7, 0..<24), (7, 25..<28): 1 + UInt8(width(info))
                case (2, 0..<24), (3, 0..<24): 1 + info
                default: 0
                }
        }
        return unsafe UnsafePointer(lengths)
    }()

    /// Masks by a count of bytes up to 24. Each has the highest bit of that many bytes, which is 0 in ASCII text.
    nonisolated(unsafe) static let textMasks: UnsafePointer<CBORScan.Mask> = {
        let masks = UnsafeMutablePointer<CBORScan.Mask>.allocate(capacity: 25)
        func word(_ count: Int) -> UInt64 {
            let all: UInt64 = 0x8080_8080_8080_8080
            return count >= 8 ? all : all & ~(UInt64.max << UInt64(8 * max(count, 0)))
        }
        for count in 0...24 {
            unsafe (masks + count).initialize(
                to: CBORScan.Mask(first: word(count), second: word(count - 8), third: word(count - 16)))
        }
        return unsafe UnsafePointer(masks)
    }()

    private func afterLong(_ item: Item) -> Item {
        let head = head(at: Int(item.offset))
        switch head.major {
        case 2, 3:
            if head.isIndefinite { return after(container: item.container) }
            return Item(
                offset: UInt32(truncatingIfNeeded: head.content + Int(head.argument)), container: item.container)
        case 4, 5:
            return after(container: item.container)
        default:
            return Item(offset: UInt32(truncatingIfNeeded: head.content), container: item.container)
        }
    }

    @inline(__always)
    private func after(container: UInt32) -> Item {
        let place = unsafe containers + Int(container)
        return unsafe Item(offset: place.pointee.end, container: place.pointee.next)
    }

    /// Lends the bytes of a string item, with its chunks joined if it has several.
    func withString<R>(_ head: Head, _ item: Item, _ body: (UnsafeBufferPointer<UInt8>) throws -> R) rethrows -> R {
        guard head.isIndefinite else {
            return try unsafe body(UnsafeBufferPointer(start: base + head.content, count: Int(head.argument)))
        }
        return try unsafe joined(Int(item.container)).withUnsafeBufferPointer(body)
    }

    /// The chunks of a string of indefinite length as one.
    func joined(_ container: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var offset = unsafe Int(containers[container].start)
        while unsafe offset < Int(containers[container].contentEnd) {
            let chunk = head(at: offset)
            unsafe bytes += UnsafeBufferPointer(start: base + chunk.content, count: Int(chunk.argument))
            offset = chunk.content + Int(chunk.argument)
        }
        return bytes
    }

    /// A key in a canonical form, for comparing keys: all encodings of one integer or string have one form.
    func canonicalKey(_ item: Item) -> [UInt8] {
        let head = head(at: Int(item.offset))
        var bytes = RawBuffer(capacity: 64)
        defer { bytes.free() }
        switch head.major {
        case 0, 1:
            bytes.head(head.major << 5, head.argument)
        case 2, 3:
            unsafe withString(head, item) { string in
                bytes.head(head.major << 5, UInt64(string.count))
                if let start = string.baseAddress { unsafe bytes.append(start, string.count) }
            }
        default:
            let end = Int(after(item).offset)
            unsafe bytes.append(base + Int(item.offset), end - Int(item.offset))
        }
        return unsafe Array(UnsafeBufferPointer(start: bytes.base, count: bytes.count))
    }

    /// The bytes of an item in diagnostic notation, shortened for an error.
    func excerpt(_ item: Item) -> String {
        let head = head(at: Int(item.offset))
        if head.major == 2 || head.major == 3 {
            return unsafe withString(head, item) { string in
                let isCut = string.count > 64
                let kept = unsafe UnsafeBufferPointer(rebasing: string[..<(isCut ? 64 : string.count)])
                let text =
                    unsafe head.major == 3
                    ? CBORText.quoted(String(decoding: kept, as: UTF8.self)) : unsafe "h'\(CBORText.hex(kept))'"
                return isCut ? text + "…" : text
            }
        }
        let size = Int(after(item).offset) - Int(item.offset)
        guard size <= 64 else {
            return "\(Self.kind(head)) of \(size) bytes"
        }
        return CBORText.diagnostic(self, item)
    }

    /// What an item is, in a word.
    static func kind(_ head: Head) -> String {
        switch (head.major, head.info) {
        case (0, _), (1, _): "an integer"
        case (2, _): "a byte string"
        case (3, _): "text"
        case (4, _): "an array"
        case (5, _): "a map"
        case (_, 20), (_, 21): "a boolean"
        case (_, 22): "null"
        case (_, 23): "undefined"
        case (_, 25...27): "a float"
        default: "a simple value"
        }
    }
}

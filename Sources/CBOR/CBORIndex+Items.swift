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
        let place = unsafe base + Int(item.offset) + 1
        let number = unsafe first & 31 < 24 ? UInt64(first & 31) : CBORScan.argument(place, width: width)
        return (number, Item(offset: item.offset + 1 + UInt32(width), container: item.container))
    }

    /// Calls `body` with each element of an array, or with the keys and values of a map in turn, and its number.
    func forEach(in item: Item, isMap: Bool, _ body: (Int, Item) -> Void) {
        var element = first(of: item)
        for number in 0..<Int(containers[Int(item.container)].count) * (isMap ? 2 : 1) {
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
            let (major, info) = unsafe (base[offset] >> 5, base[offset] & 31)
            let width = Self.width(info)
            if major != 6 {
                let argument = unsafe info < 24 ? UInt64(info) : CBORScan.argument(base + offset + 1, width: width)
                return Head(major: major, info: info, argument: argument, content: offset + 1 + width)
            }
            offset += 1 + width
        }
    }

    /// The number of argument bytes that follow a head byte.
    @inline(__always)
    static func width(_ info: UInt8) -> Int {
        info < 24 || info > 27 ? 0 : 1 << Int(info - 24)
    }

    /// The item after this one.
    @inline(__always)
    func after(_ item: Item) -> Item {
        let length = shortLength(at: Int(item.offset))
        return length > 0
            ? Item(offset: item.offset &+ UInt32(truncatingIfNeeded: length), container: item.container)
            : afterLong(item)
    }

    private func afterLong(_ item: Item) -> Item {
        let head = head(at: Int(item.offset))
        if head.major == 4 || head.major == 5 || head.isIndefinite {
            let container = containers[Int(item.container)]
            return Item(offset: container.end, container: container.next)
        }
        let length = head.major == 2 || head.major == 3 ? Int(head.argument) : 0
        return Item(offset: UInt32(truncatingIfNeeded: head.content + length), container: item.container)
    }

    /// The first item in a container.
    @inline(__always)
    func first(of item: Item) -> Item {
        Item(offset: containers[Int(item.container)].start, container: item.container + 1)
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
        var offset = Int(containers[container].start)
        while offset < Int(containers[container].contentEnd) {
            let chunk = head(at: offset)
            unsafe bytes += UnsafeBufferPointer(start: base + chunk.content, count: Int(chunk.argument))
            offset = chunk.content + Int(chunk.argument)
        }
        return bytes
    }

    /// A key in a canonical form, for comparing keys: all encodings of one integer or string have one form.
    func canonicalKey(_ item: Item) -> [UInt8] {
        let head = head(at: Int(item.offset))
        var argument = head.argument
        var content: [UInt8] = []
        switch head.major {
        case 0, 1: break
        case 2, 3:
            content = bytes(head, item)
            argument = UInt64(content.count)
        default:
            let length = Int(after(item).offset) - Int(item.offset)
            return unsafe Array(UnsafeBufferPointer(start: base + Int(item.offset), count: length))
        }
        return [head.major << 5] + (0..<8).map { UInt8(truncatingIfNeeded: argument >> UInt64(56 - 8 * $0)) } + content
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

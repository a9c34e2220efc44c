// Unsafe: every read is checked against the document's end. The stack and the containers grow before they are written to.

/// The pass that fills a ``CBORIndex``. It is a loop over items with its own stack, so that nesting needs no recursion.
@safe struct CBORScan {
    let base: UnsafePointer<UInt8>
    let count: Int
    /// The number of bytes that may be read. Those after the document are zero.
    let readable: Int
    let shortLengths: UnsafePointer<UInt8>
    let textMasks: UnsafePointer<Mask>
    let depthMax: Int
    let isValid: Bool

    /// Bits of 24 bytes, with the first byte in the lowest bits.
    struct Mask {
        var first: UInt64
        var second: UInt64
        var third: UInt64
    }

    struct Frame {
        /// A frame of the stack. The document itself is a frame too, which is full after one item.
        enum Kind { case document, array, map, tag, bytes, text }
        var kind: Kind
        var isIndefinite: Bool
        /// Whether, in a map, a key was read and its value comes next.
        var isBetween = false
        /// Whether, in a map, the keys have ascended bytewise so far, and whether each key is in its canonical form.
        var isSorted = true
        var isCanonical = true
        /// The container that is being filled, or nil for a document or a tag.
        var container: Int?
        /// The number of elements or pairs that are missing, if the length is definite.
        var remaining: Int
        var count = 0
        var keyStart = 0
        var lastKeyStart = 0
        var lastKeyEnd = 0
        /// The first 8 bytes of the last key, with the first byte in the highest bits.
        var lastPrefix: UInt64 = 0

        /// Whether nothing more can come.
        var isFull: Bool {
            @inline(__always) get { remaining == 0 && !isIndefinite && kind != .document }
        }
    }

    /// Whether a document of at least one byte is a valid number, simple value or byte string.
    @inline(__always)
    static func isNumberOrBytes(_ base: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        let (first, info) = unsafe (base[0], base[0] & 31)
        let width = CBORIndex.width(info)
        guard info < 28, width < count else { return false }
        switch first >> 5 {
        case 0, 1: return count == 1 &+ width
        case 2:
            let argument = unsafe info < 24 ? UInt64(info) : argument(base + 1, width: width)
            return argument == UInt64(count &- 1 &- width)
        case 7: return count == 1 &+ width && first != 0xF8
        default: return false
        }
    }

    /// - Parameter frames: memory for `depthMax` + 1 frames.
    func run(_ index: inout CBORIndex, _ frames: UnsafeMutablePointer<Frame>) throws(WireError) {
        unsafe frames.initialize(to: Frame(kind: .document, isIndefinite: false, remaining: 1))
        var top = unsafe frames
        var offset = 0
        while true {
            if unsafe top.pointee.remaining > 0, unsafe !top.pointee.isBetween {
                switch unsafe top.pointee.kind {
                case .array: offset = unsafe simpleElements(top, offset)
                case .map: offset = unsafe simpleEntries(top, offset)
                case .document, .tag, .bytes, .text: break
                }
            }
            if unsafe top.pointee.isFull {
                try unsafe close(top, contentEnd: offset, end: offset, index)
                unsafe top -= 1
            } else if try unsafe readItem(&offset, &top, depthMax - (top - frames), &index) {
                continue
            }
            // An item ended here. It is counted in its frame, and frames that are full now are closed.
            completion: while true {
                switch unsafe top.pointee.kind {
                case .map where unsafe !top.pointee.isBetween:
                    unsafe top.pointee.isBetween = true
                    if isValid { try unsafe noteKey(top, offset) }
                    break completion
                case .map, .array:
                    unsafe top.pointee.isBetween = false
                    unsafe top.pointee.count += 1
                    if unsafe top.pointee.isIndefinite { break completion }
                    unsafe top.pointee.remaining -= 1
                    if unsafe top.pointee.remaining > 0 { break completion }
                    try unsafe close(top, contentEnd: offset, end: offset, index)
                case .bytes, .text:
                    unsafe top.pointee.count += 1
                    break completion
                case .tag:
                    break
                case .document:
                    guard offset == count else { throw .trailingBytes(count: count - offset, offset: offset) }
                    return
                }
                unsafe top -= 1
            }
        }
    }

    /// Reads an item, or the head of a container, which becomes `top`. After a break, `top` is the frame around the container that
    /// ended.
    ///
    /// - Parameter levels: how many more frames may be opened.
    /// - Returns: whether the item is a container or a tag, so that `top` is its frame.
    private func readItem(
        _ offset: inout Int, _ top: inout UnsafeMutablePointer<Frame>, _ levels: Int, _ index: inout CBORIndex
    ) throws(WireError) -> Bool {
        let start = offset
        guard start < count else { throw .truncated(needed: 1, have: 0, what: "CBOR item") }
        let first = unsafe base[start]
        let (major, info) = (first >> 5, first & 31)
        switch unsafe top.pointee.kind {
        case .map: if unsafe !top.pointee.isBetween { unsafe top.pointee.keyStart = start }
        case .bytes, .text: if first != 0xFF { try unsafe checkChunk(top.pointee.kind, major, info, start) }
        case .document, .array, .tag: break
        }
        let (argument, content) = try readHead(start, info, major)
        offset = content
        switch major {
        case 0, 1:
            return false
        case 2, 3:
            if info == 31 {
                guard levels > 0 else { throw .tooDeep(limit: depthMax, offset: start) }
                unsafe top += 1
                let kind: Frame.Kind = major == 2 ? .bytes : .text
                unsafe top.initialize(
                    to: Frame(kind: kind, isIndefinite: true, container: index.append(start: content), remaining: 0))
                return true
            }
            guard argument <= UInt64(count - content) else {
                throw .truncated(
                    needed: Int(clamping: argument), have: count - content, what: major == 2 ? "bytes" : "text")
            }
            offset = content + Int(argument)
            if major == 3, isValid, !isUTF8(content, Int(argument)) {
                throw .malformed(what: "text that is not UTF-8", offset: start)
            }
            return false
        case 4, 5:
            // Each element takes at least a byte, so a count beyond the remaining bytes is an error.
            guard argument <= UInt64(count - content) / (major == 4 ? 1 : 2) else {
                throw .truncated(
                    needed: Int(clamping: argument), have: count - content, what: major == 4 ? "array" : "map")
            }
            guard levels > 0 else { throw .tooDeep(limit: depthMax, offset: start) }
            unsafe top += 1
            unsafe top.initialize(
                to: Frame(
                    kind: major == 4 ? .array : .map, isIndefinite: info == 31,
                    container: index.append(start: content), remaining: Int(argument)))
            return true
        case 6:
            guard levels > 0 else { throw .tooDeep(limit: depthMax, offset: start) }
            unsafe top += 1
            unsafe top.initialize(to: Frame(kind: .tag, isIndefinite: false, remaining: 1))
            return true
        default:
            guard info == 31 else { return false }
            guard unsafe top.pointee.isIndefinite, unsafe !top.pointee.isBetween else {
                throw .malformed(what: "a break where nothing can end", offset: start)
            }
            try unsafe close(top, contentEnd: start, end: content, index)
            unsafe top -= 1
            return false
        }
    }

    // MARK: Common documents

    /// Steps over elements that are numbers and short strings, and stops at any other.
    private func simpleElements(_ frame: UnsafeMutablePointer<Frame>, _ start: Int) -> Int {
        var offset = start
        var left = unsafe frame.pointee.remaining
        while left > 0, let end = simpleEnd(offset) {
            offset = end
            left -= 1
        }
        unsafe frame.pointee.count += frame.pointee.remaining - left
        unsafe frame.pointee.remaining = left
        return offset
    }

    /// Steps over entries with short ascending text keys and with numbers or short strings as values. Stops at any other key, and
    /// after the key of any other value.
    private func simpleEntries(_ frame: UnsafeMutablePointer<Frame>, _ start: Int) -> Int {
        var offset = start
        var left = unsafe frame.pointee.remaining
        var lastPrefix = unsafe frame.pointee.lastPrefix
        var (lastStart, lastEnd) = unsafe (frame.pointee.lastKeyStart, frame.pointee.lastKeyEnd)
        // Nothing below can overflow: 56 bytes can be read, a key takes at most 24 of them, and its value as many.
        let last = readable &- 56
        while left > 0, offset <= last {
            let word = unsafe UInt64(littleEndian: UnsafeRawPointer(base + offset).loadUnaligned(as: UInt64.self))
            let length = Int(truncatingIfNeeded: word & 0xFF) &- 0x5F
            guard length > 0, length <= 24 else { break }
            let valueStart = offset &+ length
            // The key's first bytes with its head. The highest bit of the head is never set.
            let start = length >= 8 ? word : word & ~(UInt64.max &<< UInt64(truncatingIfNeeded: 8 &* length))
            guard valueStart <= count, start & 0x8080_8080_8080_8080 == 0, length <= 8 || isASCII(offset, length)
            else { break }
            let prefix = start.byteSwapped
            // Equal prefixes decide nothing yet, and other orders are rare.
            guard prefix > lastPrefix else { break }
            (lastPrefix, lastStart, lastEnd) = (prefix, offset, valueStart)
            offset = valueStart
            let first = unsafe base[valueStart]
            let valueLength = unsafe Int(shortLengths[Int(first)])
            let valueEnd = valueStart &+ valueLength
            guard valueLength > 0, valueEnd <= count,
                first & 0xE0 != 0x60 || isASCII(valueStart &+ 1, valueLength &- 1)
            else {
                unsafe frame.pointee.isBetween = true
                break
            }
            offset = valueEnd
            left &-= 1
        }
        unsafe frame.pointee.count += frame.pointee.remaining - left
        unsafe frame.pointee.remaining = left
        unsafe frame.pointee.lastPrefix = lastPrefix
        unsafe (frame.pointee.lastKeyStart, frame.pointee.lastKeyEnd) = (lastStart, lastEnd)
        return offset
    }

    /// The end of a number, a simple value or a short string that begins here, or nil for any other item, valid or not.
    @inline(__always)
    private func simpleEnd(_ start: Int) -> Int? {
        guard start < count else { return nil }
        let first = unsafe base[start]
        let length = unsafe Int(shortLengths[Int(first)])
        guard length > 0, length <= count &- start else { return nil }
        if first & 0xE0 == 0x60 {
            guard readable &- start >= 25, isASCII(start &+ 1, length &- 1) else { return nil }
        }
        return start &+ length
    }

    /// Whether up to 24 bytes are ASCII. 24 bytes must be readable.
    @inline(__always)
    private func isASCII(_ start: Int, _ length: Int) -> Bool {
        let place = unsafe UnsafeRawPointer(base + start)
        let mask = unsafe textMasks + length
        let first = unsafe UInt64(littleEndian: place.loadUnaligned(as: UInt64.self)) & mask.pointee.first
        let second =
            unsafe UInt64(littleEndian: place.loadUnaligned(fromByteOffset: 8, as: UInt64.self)) & mask.pointee.second
        let third =
            unsafe UInt64(littleEndian: place.loadUnaligned(fromByteOffset: 16, as: UInt64.self)) & mask.pointee.third
        return first | second | third == 0
    }

    private func isUTF8(_ start: Int, _ length: Int) -> Bool {
        let text = unsafe UnsafeBufferPointer(start: base + start, count: length)
        return unsafe (try? UTF8Span(validating: text.span)) != nil
    }

    private func checkChunk(_ kind: Frame.Kind, _ major: UInt8, _ info: UInt8, _ start: Int) throws(WireError) {
        guard major == (kind == .bytes ? 2 : 3), info != 31 else {
            throw .malformed(what: "a string's chunk is not a string of its kind", offset: start)
        }
    }

    @inline(__always)
    private func close(
        _ frame: UnsafeMutablePointer<Frame>, contentEnd: Int, end: Int, _ index: borrowing CBORIndex
    ) throws(WireError) {
        guard let container = unsafe frame.pointee.container else { return }
        unsafe index.finish(container, count: frame.pointee.count, contentEnd: contentEnd, end: end)
        if unsafe frame.pointee.kind == .map, unsafe !(frame.pointee.isSorted && frame.pointee.isCanonical) {
            try unsafe refuseDuplicates(frame.pointee, container, copy index)
        }
    }

    /// Compares a key with the one before it. Keys that ascend cannot be equal.
    @inline(__always)
    private func noteKey(_ frame: UnsafeMutablePointer<Frame>, _ end: Int) throws(WireError) {
        let start = unsafe frame.pointee.keyStart
        let prefix = prefix(start, end)
        if unsafe prefix > frame.pointee.lastPrefix {
            // Most keys already ascend by their first bytes.
        } else if unsafe frame.pointee.count > 0 {
            let (lastStart, lastEnd) = unsafe (frame.pointee.lastKeyStart, frame.pointee.lastKeyEnd)
            let order = unsafe BytesOrder.compare(base + lastStart, lastEnd - lastStart, base + start, end - start)
            if order == 0 { throw .duplicateKey(key: name(start, end), offset: start) }
            if order > 0 { unsafe frame.pointee.isSorted = false }
        }
        if unsafe base[start] & 31 >= 24 || base[start] >> 5 == 6, !isCanonicalKey(start) {
            unsafe frame.pointee.isCanonical = false
        }
        unsafe frame.pointee.lastKeyStart = start
        unsafe frame.pointee.lastKeyEnd = end
        unsafe frame.pointee.lastPrefix = prefix
    }

    /// The first 8 bytes of a key as one number. Shorter keys are padded with zeros.
    @inline(__always)
    private func prefix(_ start: Int, _ end: Int) -> UInt64 {
        guard readable - start >= 8 else { return 0 }
        let word = unsafe UInt64(bigEndian: UnsafeRawPointer(base + start).loadUnaligned(as: UInt64.self))
        return end - start >= 8 ? word : word & ~(UInt64.max >> UInt64(8 * (end - start)))
    }

    /// Whether a key is in its canonical form. False for an integer or a string with a head that is not the shortest, and for a
    /// tagged key, because tags are skipped.
    private func isCanonicalKey(_ start: Int) -> Bool {
        let (major, info) = unsafe (base[start] >> 5, base[start] & 31)
        guard major < 4 else { return major != 6 }
        guard info != 31 else { return false }
        let argument = unsafe Self.argument(base + start + 1, width: CBORIndex.width(info))
        return info == 24 ? argument >= 24 : argument >> (4 << UInt64(info - 24)) != 0
    }

    /// The slow way, for maps with keys in no order: sorts them, in time n log n.
    private func refuseDuplicates(_ frame: Frame, _ container: Int, _ index: CBORIndex) throws(WireError) {
        var keys: [(start: Int, end: Int, canonical: [UInt8])] = []
        keys.reserveCapacity(frame.count)
        let map = unsafe index.containers[container]
        var item = CBORIndex.Item(offset: map.start, container: UInt32(container + 1))
        for _ in 0..<frame.count {
            let value = index.after(item)
            keys.append(
                (Int(item.offset), Int(value.offset), frame.isCanonical ? [] : index.canonicalKey(item)))
            item = index.after(value)
        }
        let isCanonical = frame.isCanonical
        func order(_ a: Int, _ b: Int) -> Int {
            if isCanonical {
                return unsafe BytesOrder.compare(
                    base + keys[a].start, keys[a].end - keys[a].start, base + keys[b].start, keys[b].end - keys[b].start
                )
            }
            return unsafe keys[a].canonical.withUnsafeBufferPointer { x in
                unsafe keys[b].canonical.withUnsafeBufferPointer { y in
                    // A canonical key has at least a head.
                    guard let x0 = x.baseAddress, let y0 = y.baseAddress else { return 0 }
                    return unsafe BytesOrder.compare(x0, x.count, y0, y.count)
                }
            }
        }
        let sorted = keys.indices.sorted { order($0, $1) < 0 }
        for place in sorted.indices.dropFirst() where order(sorted[place - 1], sorted[place]) == 0 {
            let second = keys[max(sorted[place - 1], sorted[place])]
            throw .duplicateKey(key: name(second.start, second.end), offset: second.start)
        }
    }

    /// A key for an error message.
    private func name(_ start: Int, _ end: Int) -> String {
        let bytes = unsafe UnsafeBufferPointer(start: base + start, count: end - start)
        return unsafe (try? CBORIndex.with(Array(bytes), CBORLimits(), isValid: false) { $0.excerpt(.root) }) ?? "?"
    }

    /// The argument of the head at `start`, and the offset after the head.
    @inline(__always)
    private func readHead(_ start: Int, _ info: UInt8, _ major: UInt8) throws(WireError) -> (UInt64, Int) {
        if info < 24 { return (UInt64(info), start + 1) }
        if info == 31, major >= 2, major != 6 { return (0, start + 1) }
        guard info < 28 else { throw .malformed(what: "a head that means nothing", offset: start) }
        let width = CBORIndex.width(info)
        guard width <= count - start - 1 else {
            throw .truncated(needed: width, have: count - start - 1, what: "argument of a CBOR head")
        }
        let argument = unsafe Self.argument(base + start + 1, width: width)
        if major == 7, info == 24, argument < 32 {
            throw .malformed(what: "a simple value below 32 in two bytes", offset: start)
        }
        return (argument, start + 1 + width)
    }

    /// The argument of the head at `place`, whose lowest bits are `info`. Its length must be definite.
    @inline(__always)
    static func argument(_ place: UnsafePointer<UInt8>, info: UInt8) -> UInt64 {
        unsafe info < 24 ? UInt64(info) : argument(place + 1, width: CBORIndex.width(info))
    }

    /// A number of 0, 1, 2, 4 or 8 bytes, with the highest byte first.
    @inline(__always)
    static func argument(_ place: UnsafePointer<UInt8>, width: Int) -> UInt64 {
        let raw = unsafe UnsafeRawPointer(place)
        switch width {
        case 1: return unsafe UInt64(place[0])
        case 2: return unsafe UInt64(UInt16(bigEndian: raw.loadUnaligned(as: UInt16.self)))
        case 4: return unsafe UInt64(UInt32(bigEndian: raw.loadUnaligned(as: UInt32.self)))
        case 8: return unsafe UInt64(bigEndian: raw.loadUnaligned(as: UInt64.self))
        default: return 0
        }
    }
}

/// The pass that fills a ``CBORIndex``: a loop over items with a stack of its own, so that nesting costs no recursion.
struct CBORScan {
    let base: UnsafePointer<UInt8>
    let count: Int
    let depthMax: Int
    let isValid: Bool

    private struct Frame {
        enum Kind { case array, map, tag, bytes, text }
        var kind: Kind
        var isIndefinite: Bool
        /// In a map: a key was read and its value comes next.
        var isBetween = false
        /// In a map: keys ascended so far, each by its bytes; and each is in the one form that its value has.
        var isSorted = true
        var isCanonical = true
        var container = -1
        /// Elements, or pairs, still to come where the length is definite.
        var remaining: Int
        var count = 0
        var keyStart = 0
        var lastKeyStart = 0
        var lastKeyEnd = 0
    }

    func run(_ index: inout CBORIndex) throws(WireError) {
        let frames = UnsafeMutablePointer<Frame>.allocate(capacity: depthMax + 1)
        defer { frames.deallocate() }
        var depth = 0
        var offset = 0
        repeat {
            let start = offset
            guard start < count else { throw .truncated(needed: 1, have: 0, what: "CBOR item") }
            let first = base[start]
            let (major, info) = (first >> 5, first & 31)
            if depth > 0 {
                let frame = frames + (depth - 1)
                if frame.pointee.kind == .map, !frame.pointee.isBetween {
                    frame.pointee.keyStart = start
                } else if frame.pointee.kind == .bytes || frame.pointee.kind == .text, first != 0xFF {
                    let expected: UInt8 = frame.pointee.kind == .bytes ? 2 : 3
                    guard major == expected, info != 31 else {
                        throw .malformed(what: "a string's chunk is not a string of its kind", offset: start)
                    }
                }
            }
            let (argument, content) = try readHead(start, info, major)
            offset = content
            var opened: Frame.Kind?
            var remaining = 0
            let isIndefinite = info == 31
            switch major {
            case 0, 1:
                break
            case 2, 3:
                if isIndefinite {
                    opened = major == 2 ? .bytes : .text
                } else {
                    guard argument <= UInt64(count - content) else {
                        throw .truncated(
                            needed: Int(clamping: argument), have: count - content, what: major == 2 ? "bytes" : "text")
                    }
                    offset = content + Int(argument)
                    if major == 3, isValid, !UTF8Check.isValid(base + content, Int(argument)) {
                        throw .malformed(what: "text that is not UTF-8", offset: start)
                    }
                }
            case 4, 5:
                opened = major == 4 ? .array : .map
                if !isIndefinite {
                    // Each element takes at least a byte, so that a count beyond what is left need not be tried.
                    guard argument <= UInt64(count - content) / (major == 4 ? 1 : 2) else {
                        throw .truncated(
                            needed: Int(clamping: argument), have: count - content,
                            what: major == 4 ? "array" : "map")
                    }
                    remaining = Int(argument)
                }
            case 6:
                opened = .tag
                remaining = 1
            default:
                if info == 31 {
                    guard depth > 0, frames[depth - 1].isIndefinite, !frames[depth - 1].isBetween else {
                        throw .malformed(what: "a break where nothing can end", offset: start)
                    }
                    depth -= 1
                    try close(frames[depth], contentEnd: start, end: offset, index)
                }
            }
            if let kind = opened {
                guard depth < depthMax else { throw .tooDeep(limit: depthMax, offset: start) }
                let container = kind == .tag ? -1 : index.append(start: content)
                if isIndefinite || remaining > 0 {
                    (frames + depth).initialize(
                        to: Frame(kind: kind, isIndefinite: isIndefinite, container: container, remaining: remaining))
                    depth += 1
                    continue
                }
                index.finish(container, count: 0, contentEnd: offset, end: offset)
            }
            try complete(frames, &depth, offset, index)
        } while depth > 0
        guard offset == count else { throw .trailingBytes(count: count - offset, offset: offset) }
    }

    /// An item ended at `end`: counts it where it belongs, and closes what is full by it.
    @inline(__always)
    private func complete(
        _ frames: UnsafeMutablePointer<Frame>, _ depth: inout Int, _ end: Int, _ index: CBORIndex
    ) throws(WireError) {
        while depth > 0 {
            let frame = frames + (depth - 1)
            switch frame.pointee.kind {
            case .tag:
                depth -= 1
                continue
            case .bytes, .text:
                frame.pointee.count += 1
                return
            case .map where !frame.pointee.isBetween:
                frame.pointee.isBetween = true
                if isValid { try noteKey(frame, end) }
                return
            case .map, .array:
                frame.pointee.isBetween = false
                frame.pointee.count += 1
                if frame.pointee.isIndefinite { return }
                frame.pointee.remaining -= 1
                if frame.pointee.remaining > 0 { return }
                depth -= 1
                try close(frame.pointee, contentEnd: end, end: end, index)
            }
        }
    }

    private func close(_ frame: Frame, contentEnd: Int, end: Int, _ index: CBORIndex) throws(WireError) {
        index.finish(frame.container, count: frame.count, contentEnd: contentEnd, end: end)
        if frame.kind == .map, !(frame.isSorted && frame.isCanonical) { try refuseDuplicates(frame, index) }
    }

    /// Compares a key with the one before it: keys that ascend cannot be the same.
    @inline(__always)
    private func noteKey(_ frame: UnsafeMutablePointer<Frame>, _ end: Int) throws(WireError) {
        let start = frame.pointee.keyStart
        if frame.pointee.count > 0 {
            let (lastStart, lastEnd) = (frame.pointee.lastKeyStart, frame.pointee.lastKeyEnd)
            let order = BytesOrder.compare(base + lastStart, lastEnd - lastStart, base + start, end - start)
            if order == 0 { throw .duplicateKey(key: name(start, end), offset: start) }
            if order > 0 { frame.pointee.isSorted = false }
        }
        if base[start] & 31 >= 24 || base[start] >> 5 == 6, !isCanonicalKey(start) { frame.pointee.isCanonical = false }
        frame.pointee.lastKeyStart = start
        frame.pointee.lastKeyEnd = end
    }

    /// False for an integer or a string whose head is not the shortest, and for a tagged key, as tags are skipped.
    private func isCanonicalKey(_ start: Int) -> Bool {
        let (major, info) = (base[start] >> 5, base[start] & 31)
        guard major < 4 else { return major != 6 }
        guard info != 31 else { return false }
        let argument = Self.argument(base + start + 1, width: CBORIndex.width(info))
        return info == 24 ? argument >= 24 : argument >> (4 << UInt64(info - 24)) != 0
    }

    /// The long way, for maps whose keys came in no order: sorts them, in time n log n.
    private func refuseDuplicates(_ frame: Frame, _ index: CBORIndex) throws(WireError) {
        var keys: [(start: Int, end: Int, canonical: [UInt8])] = []
        keys.reserveCapacity(frame.count)
        let map = index.containers[frame.container]
        var item = CBORIndex.Item(offset: map.start, container: UInt32(frame.container + 1))
        for _ in 0..<frame.count {
            let value = index.after(item)
            keys.append(
                (Int(item.offset), Int(value.offset), frame.isCanonical ? [] : index.canonicalKey(item)))
            item = index.after(value)
        }
        let isCanonical = frame.isCanonical
        func order(_ a: Int, _ b: Int) -> Int {
            if isCanonical {
                return BytesOrder.compare(
                    base + keys[a].start, keys[a].end - keys[a].start, base + keys[b].start, keys[b].end - keys[b].start
                )
            }
            return keys[a].canonical.withUnsafeBufferPointer { x in
                keys[b].canonical.withUnsafeBufferPointer { y in
                    // A canonical key has at least its head.
                    guard let x0 = x.baseAddress, let y0 = y.baseAddress else { return 0 }
                    return BytesOrder.compare(x0, x.count, y0, y.count)
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
        let bytes = UnsafeBufferPointer(start: base + start, count: end - start)
        return (try? CBORIndex.with(Array(bytes), CBORLimits(), isValid: false) { $0.excerpt(.root) }) ?? "?"
    }

    /// The argument of the head at `start`, and the offset behind the head.
    @inline(__always)
    private func readHead(_ start: Int, _ info: UInt8, _ major: UInt8) throws(WireError) -> (UInt64, Int) {
        if info < 24 { return (UInt64(info), start + 1) }
        if info == 31, major >= 2, major != 6 { return (0, start + 1) }
        guard info < 28 else { throw .malformed(what: "a head that means nothing", offset: start) }
        let width = CBORIndex.width(info)
        guard width <= count - start - 1 else {
            throw .truncated(needed: width, have: count - start - 1, what: "argument of a CBOR head")
        }
        let argument = Self.argument(base + start + 1, width: width)
        if major == 7, info == 24, argument < 32 {
            throw .malformed(what: "a simple value below 32 in two bytes", offset: start)
        }
        return (argument, start + 1 + width)
    }

    /// A number of 0, 1, 2, 4 or 8 bytes, the highest first.
    @inline(__always)
    static func argument(_ place: UnsafePointer<UInt8>, width: Int) -> UInt64 {
        let raw = UnsafeRawPointer(place)
        switch width {
        case 1: return UInt64(place[0])
        case 2: return UInt64(UInt16(bigEndian: raw.loadUnaligned(as: UInt16.self)))
        case 4: return UInt64(UInt32(bigEndian: raw.loadUnaligned(as: UInt32.self)))
        case 8: return UInt64(bigEndian: raw.loadUnaligned(as: UInt64.self))
        default: return 0
        }
    }
}

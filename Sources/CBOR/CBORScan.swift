internal import CMemory

// Unsafe: every read is checked against the document's end.

/// The pass that fills a ``CBORIndex``. It recurses as deep as the limit allows.
@safe struct CBORScan {
    let base: UnsafePointer<UInt8>
    let count: Int
    let depthMax: Int
    let isValid: Bool

    /// Reads an item and all in it through.
    ///
    /// - Parameter depth: how many arrays, maps, tags and strings in chunks are around the item.
    /// - Returns: the offset after the item.
    @inline(__always)
    func item(at start: Int, depth: Int, _ index: inout CBORIndex) throws(WireError) -> Int {
        guard start < count else { throw .truncated(needed: 1, have: 0, what: "CBOR item") }
        // Most items are short, and right.
        let length = index.shortLength(at: start)
        guard length > 0, length <= count - start,
            unsafe base[start] >> 5 != 3 || !isValid || isUTF8(start + 1, start + length)
        else { return try longItem(at: start, depth: depth, &index) }
        return start + length
    }

    @inline(never)
    private func longItem(at start: Int, depth: Int, _ index: inout CBORIndex) throws(WireError) -> Int {
        let (major, info) = unsafe (base[start] >> 5, base[start] & 31)
        let (argument, content) = try head(at: start, major, info)
        switch major {
        case 0, 1: return content
        case 2, 3:
            guard info < 31 else { return try container(at: start, major, .max, content, depth, &index) }
            guard argument <= UInt64(count - content) else {
                throw .truncated(
                    needed: Int(clamping: argument), have: count - content, what: major == 2 ? "bytes" : "text")
            }
            let end = content + Int(argument)
            if major == 3, isValid, !isUTF8(content, end) {
                throw .malformed(what: "text that is not UTF-8", offset: start)
            }
            return end
        case 4, 5:
            // Each element takes at least a byte, so a count beyond the remaining bytes is an error.
            guard argument <= UInt64(count - content) / (major == 4 ? 1 : 2) else {
                throw .truncated(
                    needed: Int(clamping: argument), have: count - content, what: major == 4 ? "array" : "map")
            }
            return try container(at: start, major, info < 31 ? Int(argument) : .max, content, depth, &index)
        case 6:
            guard depth < depthMax else { throw .tooDeep(limit: depthMax, offset: start) }
            return try item(at: content, depth: depth + 1, &index)
        default:
            guard info < 31 else { throw .malformed(what: "a break where nothing can end", offset: start) }
            return content
        }
    }

    /// Reads what a container holds.
    ///
    /// - Parameter length: how many elements or pairs, or `Int.max` up to a break.
    private func container(
        at start: Int, _ major: UInt8, _ length: Int, _ content: Int, _ depth: Int, _ index: inout CBORIndex
    ) throws(WireError) -> Int {
        guard depth < depthMax else { throw .tooDeep(limit: depthMax, offset: start) }
        let number = index.containers.count
        let first = CBORIndex.Item(
            offset: UInt32(truncatingIfNeeded: content), container: UInt32(truncatingIfNeeded: number + 1))
        index.containers.append(CBORIndex.Container(start: first.offset, hint: first))
        var offset = content
        var count = 0
        var keys = Keys()
        while count < length, length < .max || !isBreak(offset) {
            if major < 4 { try checkChunk(major, offset) }
            if major == 5 {
                let key = offset
                offset = try item(at: key, depth: depth + 1, &index)
                if isValid { try note(key, offset, count, &keys) }
            }
            offset = try item(at: offset, depth: depth + 1, &index)
            count += 1
        }
        let end = length < .max ? offset : offset + 1
        index.containers[number].contentEnd = UInt32(truncatingIfNeeded: offset)
        index.containers[number].end = UInt32(truncatingIfNeeded: end)
        index.containers[number].next = UInt32(truncatingIfNeeded: index.containers.count)
        index.containers[number].count = UInt32(truncatingIfNeeded: count)
        if !(keys.isSorted && keys.isCanonical) { try refuseDuplicates(first, count, keys.isCanonical, index) }
        return end
    }

    private func isBreak(_ offset: Int) -> Bool { unsafe offset < count && base[offset] == 0xFF }

    private func checkChunk(_ major: UInt8, _ start: Int) throws(WireError) {
        guard start < count, unsafe base[start] >> 5 != major || base[start] & 31 == 31 else { return }
        throw .malformed(what: "a string's chunk is not a string of its kind", offset: start)
    }

    /// The argument of the head at `start`, and the offset after the head.
    @inline(__always)
    private func head(at start: Int, _ major: UInt8, _ info: UInt8) throws(WireError) -> (UInt64, Int) {
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

    /// A number of 0, 1, 2, 4 or 8 bytes, the highest first.
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

    private func isUTF8(_ start: Int, _ end: Int) -> Bool {
        // Most texts are ASCII, which is found faster than by the library's check.
        var place = start
        while place + 8 <= end {
            let word = unsafe UnsafeRawPointer(base + place).loadUnaligned(as: UInt64.self)
            if word & 0x8080_8080_8080_8080 != 0 { break }
            place += 8
        }
        while place < end, unsafe base[place] < 0x80 { place += 1 }
        if place == end { return true }
        let text = unsafe UnsafeBufferPointer(start: base + start, count: end - start)
        return unsafe (try? UTF8Span(validating: text.span)) != nil
    }

    // MARK: Repeated keys

    /// What was seen of a map's keys.
    private struct Keys {
        /// The keys ascended so far, each by its bytes.
        var isSorted = true
        /// Each key is in the one form that its value has.
        var isCanonical = true
        var lastStart = 0
        var lastEnd = 0
    }

    /// Compares a key with the one before it: keys that ascend cannot be the same.
    private func note(_ start: Int, _ end: Int, _ count: Int, _ keys: inout Keys) throws(WireError) {
        if count > 0 {
            // The first byte of a short text is its length, which differs most often.
            let (last, first) = unsafe (base[keys.lastStart], base[start])
            let order =
                unsafe last != first
                ? Int(last) - Int(first)
                : BytesOrder.compare(base + keys.lastStart, keys.lastEnd - keys.lastStart, base + start, end - start)
            if order == 0 { throw .duplicateKey(key: name(start, end), offset: start) }
            if order > 0 { keys.isSorted = false }
        }
        if !isCanonicalKey(start) { keys.isCanonical = false }
        (keys.lastStart, keys.lastEnd) = (start, end)
    }

    /// False for an integer or a string whose head is not the shortest, and for a tagged key, as tags are skipped.
    private func isCanonicalKey(_ start: Int) -> Bool {
        let (major, info) = unsafe (base[start] >> 5, base[start] & 31)
        guard major < 4 else { return major != 6 }
        if info < 24 { return true }
        guard info != 31 else { return false }
        let argument = unsafe Self.argument(base + start + 1, width: CBORIndex.width(info))
        return info == 24 ? argument >= 24 : argument >> (4 << UInt64(info - 24)) != 0
    }

    /// Sorts the keys of a map that had no order, in time n log n, and finds two that are the same.
    private func refuseDuplicates(
        _ first: CBORIndex.Item, _ count: Int, _ isCanonical: Bool, _ index: CBORIndex
    ) throws(WireError) {
        var keys: [(start: Int, end: Int, canonical: [UInt8])] = []
        keys.reserveCapacity(count)
        var item = first
        for _ in 0..<count {
            let value = index.after(item)
            keys.append((Int(item.offset), Int(value.offset), isCanonical ? [] : index.canonicalKey(item)))
            item = index.after(value)
        }
        func order(_ a: Int, _ b: Int) -> Int {
            let (a, b) = (keys[a], keys[b])
            if isCanonical {
                return unsafe BytesOrder.compare(base + a.start, a.end - a.start, base + b.start, b.end - b.start)
            }
            if a.canonical == b.canonical { return 0 }
            return a.canonical.lexicographicallyPrecedes(b.canonical) ? -1 : 1
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
}

// Unsafe: the coding state lives until `end()` gives it back, and every handle is checked against its serial number.

/// Sealing: turns a value's piece of the log into its final, deterministic bytes (RFC 8949, section 4.2.1).
extension EncodingCore {
    /// Replaces the log from the node's start on with the final bytes of its value.
    func seal(_ node: Int) {
        if nodes[node].quickKeys != nodes[node].openKeys {
            if log.count - nodes[node].start <= Self.largeMin { return sealSpans(node) }
            makeEntries(node)
        }
        let owner = nodes[node]
        let isWhole = owner.isRun && owner.tail == log.count
        switch owner.kind {
        case .single where isWhole && owner.runStart == owner.start:
            return
        case .array where isWhole, .set where isWhole && owner.isSorted:
            patchHead(0x80, owner.count, start: owner.start)
        case .map where isWhole && owner.isSorted, .dictionary where isWhole && owner.isSorted:
            patchHead(0xA0, owner.count, start: owner.start)
        case .map where owner.count == 1 && onlyChild(owner) != nil:
            // An enum's case: everything behind the key belongs to the child.
            if let child = onlyChild(owner) { seal(child) }
            unsafe log.base[owner.start] = 0xA1
        case .map where isWhole && log.count - owner.start > Self.largeMin && sealAroundLargest(node):
            return
        default:
            var out = scratch
            out.count = 0
            emit(node, into: &out)
            log.count = owner.start
            unsafe log.append(piece: out.base, out.count)
            scratch = out
        }
    }

    /// Seals a map whose keys were all written directly.
    private func sealSpans(_ node: Int) {
        let owner = nodes[node]
        guard let keys = unsafe owner.keys else { return }
        let written = owner.quickKeys ^ owner.openKeys
        let orderEnd = unsafe keys.pointee.order + keys.pointee.orderCount
        // Most often the keys are already in order, or in none.
        var ordinal = unsafe keys.pointee.order
        var place = owner.start &+ 1
        var count = 0
        while unsafe ordinal < orderEnd {
            if unsafe written &>> UInt64(truncatingIfNeeded: ordinal.pointee) & 1 != 0 {
                let span = unsafe spans[owner.spans &+ Int(ordinal.pointee)]
                guard span.start == place else { break }
                place = span.end
                count &+= 1
            }
            unsafe ordinal += 1
        }
        if unsafe ordinal == orderEnd, place == log.count {
            return patchHead(0xA0, count, start: owner.start)
        }
        scratch.count = 0
        emitSpans(node, into: &scratch)
        log.count = owner.start
        unsafe log.append(piece: scratch.base, scratch.count)
    }

    /// Writes the entries of a map whose keys were all written directly.
    @inline(__always)
    private func emitSpans(_ node: Int, into out: inout RawBuffer) {
        let owner = nodes[node]
        guard let keys = unsafe owner.keys else { return }
        let written = owner.quickKeys ^ owner.openKeys
        let source = unsafe log.base
        var ordinal = unsafe keys.pointee.order
        let orderEnd = unsafe ordinal + keys.pointee.orderCount
        // The log has what is written after the node's start, each piece once.
        out.reserve(log.count &- owner.start &+ 9 &+ RawBuffer.slack)
        if unsafe keys.pointee.orderCount < 24 {
            out.count &+= 1
        } else {
            out.head(0xA0, UInt64(written.nonzeroBitCount))
        }
        let content = unsafe out.base + out.count
        var target = unsafe content
        var count: UInt8 = 0
        while unsafe ordinal < orderEnd {
            if unsafe written &>> UInt64(truncatingIfNeeded: ordinal.pointee) & 1 != 0 {
                let span = unsafe spans[owner.spans &+ Int(ordinal.pointee)]
                let length = span.end &- span.start
                unsafe RawBuffer.copy(source + span.start, to: target, length)
                unsafe target += length
                count &+= 1
            }
            unsafe ordinal += 1
        }
        if unsafe keys.pointee.orderCount < 24 { unsafe content[-1] = 0xA0 | count }
        out.count = unsafe target - out.base
    }

    /// The node that is the value of a map's only entry, and directly follows the key.
    private func onlyChild(_ owner: Node) -> Int? {
        guard let first = owner.first, let child = entries[Int(first)].child,
            nodes[Int(child)].start == entries[Int(first)].end
        else { return nil }
        return Int(child)
    }

    /// Fills in the head of a container whose content is already in its final position.
    private func patchHead(_ major: UInt8, _ count: Int, start: Int) {
        if count < 24 {
            unsafe log.base[start] = major | UInt8(truncatingIfNeeded: count)
            return
        }
        let size = Self.headSize(count)
        let length = log.count - start - 1
        log.reserve(size)
        unsafe (log.base + start + size).update(from: log.base + start + 1, count: length)
        log.count = start
        log.head(major, UInt64(count))
        log.count += length
    }

    /// The length of the head of a container with `count` elements.
    private static func headSize(_ count: Int) -> Int {
        count < 24 ? 1 : count <= 0xFF ? 2 : count <= 0xFFFF ? 3 : count <= 0xFFFF_FFFF ? 5 : 9
    }

    /// Writes the final bytes of a node and of all below it.
    private func emit(_ node: Int, into out: inout RawBuffer) {
        if nodes[node].quickKeys != nodes[node].openKeys { return emitSpans(node, into: &out) }
        switch nodes[node].kind {
        case .unset:
            // A value that encoded nothing is an empty map, like an empty struct.
            out.byte(0xA0)
        case .single:
            emitElements(node, into: &out)
        case .array:
            out.head(0x80, UInt64(nodes[node].count))
            emitElements(node, into: &out)
        case .map, .dictionary:
            emitSorted(node, 0xA0, into: &out)
        case .set:
            emitSorted(node, 0x80, into: &out)
        }
    }

    private func emitElements(_ node: Int, into out: inout RawBuffer) {
        var next = nodes[node].first
        while let index = next {
            let entry = entries[Int(index)]
            if let child = entry.child {
                emit(Int(child), into: &out)
            } else {
                unsafe out.append(piece: log.base + entry.start, entry.end - entry.start)
            }
            next = entry.next
        }
        unsafe out.append(log.base + nodes[node].runStart, nodes[node].tail - nodes[node].runStart)
    }

    private func emitSorted(_ node: Int, _ major: UInt8, into out: inout RawBuffer) {
        unsafe withSorted(node) { order in
            out.head(major, UInt64(order.count))
            for place in order.indices {
                let entry = unsafe entries[Int(order[place])]
                unsafe out.append(piece: log.base + entry.start, entry.end - entry.start)
                if let child = entry.child { emit(Int(child), into: &out) }
            }
        }
    }

    /// The size in bytes from which a map is searched for a large entry.
    private static var largeMin: Int { 1 << 16 }

    /// Sorts the entries of a map in the log if one of them has most of the bytes. That entry is moved at most once, and only the
    /// others are copied away.
    /// - Returns: false, without a change, if no entry is that large or the entries are not one run.
    private func sealAroundLargest(_ node: Int) -> Bool {
        let owner = nodes[node]
        return unsafe withSorted(node) { order in
            let sizes = unsafe order.lazy.map { entries[Int($0)].end - entries[Int($0)].start }
            let content = log.count - owner.start - 1
            guard order.count == owner.count, let place = unsafe sizes.firstIndex(where: { 2 * $0 > content }) else {
                return false
            }
            scratch.count = 0
            for other in order.indices where other != place {
                let entry = unsafe entries[Int(order[other])]
                unsafe scratch.append(log.base + entry.start, entry.end - entry.start)
            }
            let largest = unsafe entries[Int(order[place])]
            let before = unsafe sizes[..<place].reduce(0, +)
            // So far there is space only for a head of one byte.
            log.reserve(9)
            let start = owner.start + Self.headSize(order.count)
            // The largest entry is moved first. The other entries are in the scratch.
            unsafe (log.base + start + before).update(
                from: log.base + largest.start, count: largest.end - largest.start)
            unsafe (log.base + start).update(from: scratch.base, count: before)
            unsafe (log.base + start + before + largest.end - largest.start).update(
                from: scratch.base + before, count: scratch.count - before)
            log.count = owner.start
            log.head(0xA0, UInt64(order.count))
            log.count += content
            return true
        }
    }

    /// Lends the entries of a container in their order. Of several entries with one key, only the valid one is among them.
    private func withSorted<Result>(_ node: Int, _ body: (UnsafeMutableBufferPointer<Int32>) -> Result) -> Result {
        unsafe withUnsafeTemporaryAllocation(of: Int32.self, capacity: max(nodes[node].count, 1)) { order in
            var count = 0
            var next = nodes[node].first
            while let index = next {
                unsafe order[count] = index
                count += 1
                next = entries[Int(index)].next
            }
            unsafe sort(UnsafeMutableBufferPointer(rebasing: order[..<count]))
            count = unsafe dropOverwritten(order, count, in: node)
            return unsafe body(UnsafeMutableBufferPointer(rebasing: order[..<count]))
        }
    }

    private func sort(_ order: UnsafeMutableBufferPointer<Int32>) {
        guard order.count > 12 else {
            var place = 1
            while place < order.count {
                let moving = unsafe order[place]
                var hole = place
                while hole > 0, unsafe precedes(moving, order[hole - 1]) {
                    unsafe order[hole] = unsafe order[hole - 1]
                    hole -= 1
                }
                unsafe order[hole] = moving
                place += 1
            }
            return
        }
        var many = unsafe order
        unsafe many.sort { precedes($0, $1) }
    }

    /// Whether one entry comes before another. Keys ascend bytewise, and equal keys keep the order in which they were written.
    @inline(__always)
    private func precedes(_ left: Int32, _ right: Int32) -> Bool {
        let (a, b) = (entries[Int(left)].prefix, entries[Int(right)].prefix)
        if a != b { return a < b }
        let order = compareKeys(left, right)
        return order == 0 ? left < right : order < 0
    }

    private func compareKeys(_ left: Int32, _ right: Int32) -> Int {
        let (a, b) = (entries[Int(left)], entries[Int(right)])
        return unsafe BytesOrder.compare(
            log.base + a.start, Int(a.keyLength), log.base + b.start, Int(b.keyLength))
    }

    /// Removes overwritten entries. Of several values for one key the last is valid, but maps that were opened for one key become
    /// one map.
    private func dropOverwritten(_ order: UnsafeMutableBufferPointer<Int32>, _ count: Int, in node: Int) -> Int {
        guard count > 1 else { return count }
        var kept = 0
        for place in 1..<count {
            let (earlier, later) = unsafe (order[kept], order[place])
            if entries[Int(earlier)].prefix != entries[Int(later)].prefix || compareKeys(earlier, later) != 0 {
                kept += 1
                unsafe order[kept] = later
            } else if nodes[node].kind != .map {
                fail("two elements of a set or keys of a dictionary have the same encoding", node)
            } else if !merge(entries[Int(later)].child, into: entries[Int(earlier)].child) {
                unsafe order[kept] = later
            }
        }
        return kept + 1
    }

    /// Adds the entries of a map to those of another one. Returns false if one of the two is no map.
    private func merge(_ later: Int32?, into earlier: Int32?) -> Bool {
        guard let later = later.map(Int.init), let earlier = earlier.map(Int.init),
            nodes[later].kind == .map, nodes[earlier].kind == .map
        else { return false }
        makeEntries(later)
        makeEntries(earlier)
        guard let first = nodes[later].first else { return true }
        if let last = nodes[earlier].last { entries[Int(last)].next = first } else { nodes[earlier].first = first }
        nodes[earlier].last = nodes[later].last
        nodes[earlier].count += nodes[later].count
        return true
    }
}

/// The bytewise lexicographic order.
enum BytesOrder {
    /// A negative number if the first bytes come before the second, 0 if they are equal, or a positive number. A prefix comes
    /// first.
    static func compare(_ a: UnsafePointer<UInt8>, _ aCount: Int, _ b: UnsafePointer<UInt8>, _ bCount: Int) -> Int {
        let common = min(aCount, bCount)
        var index = 0
        while index + 8 <= common {
            let x = unsafe UnsafeRawPointer(a + index).loadUnaligned(as: UInt64.self)
            let y = unsafe UnsafeRawPointer(b + index).loadUnaligned(as: UInt64.self)
            if x != y { return x.bigEndian < y.bigEndian ? -1 : 1 }
            index += 8
        }
        while index < common {
            if unsafe a[index] != b[index] { return unsafe a[index] < b[index] ? -1 : 1 }
            index += 1
        }
        return aCount == bCount ? 0 : aCount < bCount ? -1 : 1
    }
}

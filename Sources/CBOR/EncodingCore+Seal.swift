internal import CMemory

// Unsafe: entries are pieces of the log, and a piece is copied before the log is cut.

/// Sealing: turns a value's piece of the log into its final, deterministic bytes (RFC 8949, section 4.2.1).
extension EncodingCore {
    /// Replaces the log from the node's start on with the final bytes of its value.
    func seal(_ node: Int) {
        let owner = nodes[node]
        if owner.kind != .unset, owner.isInOrder, owner.end == log.count {
            if owner.kind != .single { patchHead(owner) }
        } else if let child = onlyChild(owner) {
            // An enum's case: all that follows the key is the child's.
            seal(child)
            unsafe log.base[owner.start] = 0xA1
        } else if !sealAroundLargest(node) {
            scratch.count = 0
            emit(node, into: &scratch)
            log.count = owner.start
            unsafe log.append(scratch.base, scratch.count)
        }
    }

    /// The node that is the value of a map's only entry, and follows the key.
    private func onlyChild(_ owner: Node) -> Int? {
        guard owner.kind == .map, owner.count == 1 else { return nil }
        let entry = entries[owner.first]
        return entry.child >= 0 && nodes[entry.child].start == entry.end ? entry.child : nil
    }

    /// Fills in the head of a container whose content is in place already.
    private func patchHead(_ owner: Node) {
        if owner.count < 24 {
            unsafe log.base[owner.start] = owner.major | UInt8(truncatingIfNeeded: owner.count)
            return
        }
        let size = Self.headSize(owner.count)
        let length = log.count - owner.start - 1
        log.reserve(size)
        unsafe (log.base + owner.start + size).update(from: log.base + owner.start + 1, count: length)
        log.count = owner.start
        log.head(owner.major, UInt64(owner.count))
        log.count += length
    }

    /// The length of the head of a container with `count` elements.
    private static func headSize(_ count: Int) -> Int {
        count < 24 ? 1 : count <= 0xFF ? 2 : count <= 0xFFFF ? 3 : count <= 0xFFFF_FFFF ? 5 : 9
    }

    /// Writes the final bytes of a node and of all below it.
    private func emit(_ node: Int, into out: inout RawBuffer) {
        let owner = nodes[node]
        switch owner.kind {
        case .unset:
            // A value that encoded nothing is an empty map, like an empty struct.
            out.byte(0xA0)
        case .single, .array:
            if owner.kind == .array { out.head(owner.major, UInt64(owner.count)) }
            var index = owner.first
            while index >= 0 {
                emit(entries[index], into: &out)
                index = entries[index].next
            }
        case .map, .dictionary, .set:
            unsafe withSorted(node) { order in
                out.head(owner.major, UInt64(order.count))
                for place in order.indices { unsafe emit(entries[order[place]], into: &out) }
            }
        }
    }

    @inline(__always)
    private func emit(_ entry: Entry, into out: inout RawBuffer) {
        unsafe out.append(piece: log.base + entry.start, entry.end - entry.start)
        if entry.child >= 0 { emit(entry.child, into: &out) }
    }

    /// The size in bytes from which a map is searched for a large entry.
    private static var largeMin: Int { 1 << 16 }

    /// Puts the entries of a large map in order where they are if one of them has most of the bytes: that one is moved at most
    /// once, and only the others are copied away.
    ///
    /// - Returns: false, and nothing has changed, if no entry is that large, or the entries do not follow each other.
    private func sealAroundLargest(_ node: Int) -> Bool {
        let owner = nodes[node]
        let content = log.count - owner.start - 1
        guard content >= Self.largeMin, owner.kind == .map, isOneRun(owner) else { return false }
        return unsafe withSorted(node) { order in
            let sizes = unsafe order.map { entries[$0].end - entries[$0].start }
            guard order.count == owner.count, let place = sizes.firstIndex(where: { 2 * $0 > content }) else {
                return false
            }
            scratch.count = 0
            for other in sizes.indices where other != place {
                unsafe scratch.append(log.base + entries[order[other]].start, sizes[other])
            }
            let largest = unsafe entries[order[place]]
            let before = sizes[..<place].reduce(0, +)
            // There is room for a head of one byte so far.
            log.reserve(9)
            let start = owner.start + Self.headSize(order.count)
            // The largest entry goes to its place first. What it overwrites there is in the scratch.
            unsafe (log.base + start + before).update(from: log.base + largest.start, count: sizes[place])
            unsafe (log.base + start).update(from: scratch.base, count: before)
            unsafe (log.base + start + before + sizes[place]).update(
                from: scratch.base + before, count: scratch.count - before)
            log.count = owner.start
            log.head(owner.major, UInt64(order.count))
            log.count += content
            return true
        }
    }

    /// Whether the entries follow each other up to the end of the log.
    private func isOneRun(_ owner: Node) -> Bool {
        var (index, end) = (owner.first, owner.start + 1)
        while index >= 0, entries[index].start == end, entries[index].child < 0 {
            end = entries[index].end
            index = entries[index].next
        }
        return end == log.count
    }

    /// Lends the entries of a container in their order. Of several with one key it has the one that counts.
    private func withSorted<Result>(_ node: Int, _ body: (UnsafeMutableBufferPointer<Int>) -> Result) -> Result {
        unsafe withUnsafeTemporaryAllocation(of: Int.self, capacity: max(nodes[node].count, 1)) { order in
            var count = 0
            var index = nodes[node].first
            while index >= 0 {
                unsafe order[count] = index
                count += 1
                index = entries[index].next
            }
            var sorted = unsafe UnsafeMutableBufferPointer(rebasing: order[..<count])
            // Equal keys keep the order in which they were written.
            var hasEqual = false
            unsafe sorted.sort {
                let order = compareKeys($0, $1)
                hasEqual = hasEqual || order == 0
                return order < 0
            }
            if hasEqual { count = unsafe dropOverwritten(sorted, in: node) }
            return unsafe body(UnsafeMutableBufferPointer(rebasing: sorted[..<count]))
        }
    }

    /// Keys ascend bytewise.
    @inline(__always)
    private func compareKeys(_ left: Int, _ right: Int) -> Int {
        let (a, b) = (entries[left], entries[right])
        if a.prefix != b.prefix { return a.prefix < b.prefix ? -1 : 1 }
        return unsafe BytesOrder.compare(log.base + a.start, a.keyLength, log.base + b.start, b.keyLength)
    }

    /// Of several values for one key the last counts. Maps that were opened for the same key are one map.
    private func dropOverwritten(_ order: UnsafeMutableBufferPointer<Int>, in node: Int) -> Int {
        var kept = 0
        for place in 1..<order.count {
            let (earlier, later) = unsafe (order[kept], order[place])
            if compareKeys(earlier, later) != 0 {
                kept += 1
                unsafe order[kept] = later
            } else if nodes[node].kind != .map {
                fail("two elements of a set or keys of a dictionary have the same encoding", node)
            } else if !merge(entries[later].child, into: entries[earlier].child) {
                unsafe order[kept] = later
            }
        }
        return kept + 1
    }

    /// Adds the entries of a map to those of another one. It returns false if one of the two is no map.
    private func merge(_ later: Int, into earlier: Int) -> Bool {
        guard later >= 0, earlier >= 0, nodes[later].kind == .map, nodes[earlier].kind == .map else { return false }
        guard nodes[later].first >= 0 else { return true }
        if nodes[earlier].last >= 0 {
            entries[nodes[earlier].last].next = nodes[later].first
        } else {
            nodes[earlier].first = nodes[later].first
        }
        nodes[earlier].last = nodes[later].last
        nodes[earlier].count += nodes[later].count
        return true
    }
}

extension EncodingCore.Node {
    /// The first byte of the head of an empty container.
    fileprivate var major: UInt8 { kind == .array || kind == .set ? 0x80 : 0xA0 }
}

/// The bytewise lexicographic order.
enum BytesOrder {
    /// Below, at or above zero as the first bytes come before, are, or come after the second. A prefix comes first.
    @inline(__always)
    static func compare(_ a: UnsafePointer<UInt8>, _ aCount: Int, _ b: UnsafePointer<UInt8>, _ bCount: Int) -> Int {
        let order = unsafe Int(memcmp(a, b, min(aCount, bCount)))
        return order == 0 ? aCount - bCount : order
    }
}

/// Sealing: how a value's piece of the log becomes its final, deterministic bytes (RFC 8949, section 4.2.1).
extension EncodingCore {
    /// Makes the log from the node's start on the final bytes of its value.
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
            patchHead(0x80, owner)
        case .map where isWhole && owner.isSorted, .dictionary where isWhole && owner.isSorted:
            patchHead(0xA0, owner)
        case .map where owner.count == 1 && isOneChild(owner):
            // An enum's case: all that follows the key is the child's.
            seal(Int(entries[Int(owner.first)].child))
            log.base[owner.start] = 0xA1
        case .map where isWhole && log.count - owner.start > Self.largeMin && sealAroundLargest(node):
            return
        default:
            var out = scratch
            out.count = 0
            emit(node, into: &out)
            log.count = owner.start
            log.append(piece: out.base, out.count)
            scratch = out
        }
    }

    /// The same for a map whose keys were all written at once.
    private func sealSpans(_ node: Int) {
        let owner = nodes + node
        guard let keys = owner.pointee.keys else { return }
        let written = owner.pointee.quickKeys ^ owner.pointee.openKeys
        let spans = state.pointee.spans + owner.pointee.spans
        let orderEnd = keys.pointee.order + keys.pointee.orderCount
        // Most often the keys are in order already, or in none.
        var ordinal = keys.pointee.order
        let start = owner.pointee.start
        var place = start &+ 1
        var count = 0
        while ordinal < orderEnd {
            if written &>> UInt64(truncatingIfNeeded: ordinal.pointee) & 1 != 0 {
                let span = spans + Int(ordinal.pointee)
                guard span.pointee.start == place else { break }
                place = span.pointee.end
                count &+= 1
            }
            ordinal += 1
        }
        if ordinal == orderEnd, place == log.count {
            owner.pointee.count = count
            return patchHead(0xA0, owner.pointee)
        }
        scratch.count = 0
        emitSpans(node, into: &scratch)
        log.count = start
        log.append(piece: scratch.base, scratch.count)
    }

    /// Writes the entries of a map whose keys were all written at once.
    @inline(__always)
    private func emitSpans(_ node: Int, into out: inout RawBuffer) {
        let owner = nodes + node
        guard let keys = owner.pointee.keys else { return }
        let written = owner.pointee.quickKeys ^ owner.pointee.openKeys
        let spans = state.pointee.spans + owner.pointee.spans
        let source = log.base
        var ordinal = keys.pointee.order
        let orderEnd = ordinal + keys.pointee.orderCount
        // What is written is in the log behind the node's start, each piece once.
        out.reserve(log.count &- owner.pointee.start &+ 9 &+ RawBuffer.slack)
        if keys.pointee.orderCount < 24 { out.count &+= 1 } else { out.head(0xA0, UInt64(written.nonzeroBitCount)) }
        let content = out.base + out.count
        var target = content
        var count: UInt8 = 0
        while ordinal < orderEnd {
            if written &>> UInt64(truncatingIfNeeded: ordinal.pointee) & 1 != 0 {
                let span = spans + Int(ordinal.pointee)
                let length = span.pointee.end &- span.pointee.start
                RawBuffer.copy(source + span.pointee.start, to: target, length)
                target += length
                count &+= 1
            }
            ordinal += 1
        }
        if keys.pointee.orderCount < 24 { content[-1] = 0xA0 | count }
        out.count = target - out.base
    }

    private func isOneChild(_ owner: Node) -> Bool {
        let entry = entries[Int(owner.first)]
        return entry.child >= 0 && nodes[Int(entry.child)].start == entry.end
    }

    /// Fills in the head of a container whose content is in place already.
    private func patchHead(_ major: UInt8, _ owner: Node) {
        if owner.count < 24 {
            log.base[owner.start] = major | UInt8(truncatingIfNeeded: owner.count)
            return
        }
        let size = Self.headSize(owner.count)
        let content = owner.start + 1
        let length = log.count - content
        log.reserve(size)
        (log.base + owner.start + size).update(from: log.base + content, count: length)
        log.count = owner.start
        log.head(major, UInt64(owner.count))
        log.count += length
    }

    /// How long the head of so many elements is.
    private static func headSize(_ count: Int) -> Int {
        count < 24 ? 1 : count <= 0xFF ? 2 : count <= 0xFFFF ? 3 : count <= 0xFFFF_FFFF ? 5 : 9
    }

    /// Writes the final bytes of a node and of all below it.
    private func emit(_ node: Int, into out: inout RawBuffer) {
        if nodes[node].quickKeys != nodes[node].openKeys { return emitSpans(node, into: &out) }
        switch nodes[node].kind {
        case .unset:
            // A value that encoded nothing is an empty map, as an empty struct is.
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
        var index = nodes[node].first
        while index >= 0 {
            let entry = entries[Int(index)]
            if entry.child >= 0 {
                emit(Int(entry.child), into: &out)
            } else {
                out.append(piece: log.base + entry.start, entry.end - entry.start)
            }
            index = entry.next
        }
        out.append(log.base + nodes[node].runStart, nodes[node].tail - nodes[node].runStart)
    }

    private func emitSorted(_ node: Int, _ major: UInt8, into out: inout RawBuffer) {
        withSorted(node) { order in
            out.head(major, UInt64(order.count))
            for place in order {
                let entry = entries[Int(place)]
                out.append(piece: log.base + entry.start, entry.end - entry.start)
                if entry.child >= 0 { emit(Int(entry.child), into: &out) }
            }
        }
    }

    /// From how many bytes on a map is worth a look at which of its entries are large.
    private static var largeMin: Int { 1 << 16 }

    /// Puts the entries of a map in order where they are if one of them has most of the bytes: that one is moved at most
    /// once, and only the others are copied away.
    /// - Returns: false, and nothing has changed: no entry is that large, or the entries are not one run.
    private func sealAroundLargest(_ node: Int) -> Bool {
        let owner = nodes[node]
        return withSorted(node) { order in
            let sizes = order.lazy.map { entries[Int($0)].end - entries[Int($0)].start }
            let content = log.count - owner.start - 1
            guard order.count == owner.count, let place = sizes.firstIndex(where: { 2 * $0 > content }) else {
                return false
            }
            scratch.count = 0
            for other in order where other != order[place] {
                let entry = entries[Int(other)]
                scratch.append(log.base + entry.start, entry.end - entry.start)
            }
            let largest = entries[Int(order[place])]
            let before = sizes[..<place].reduce(0, +)
            // There is room for a head of one byte so far.
            log.reserve(9)
            let start = owner.start + Self.headSize(order.count)
            // First to its place; what the others left there is in the scratch.
            (log.base + start + before).update(from: log.base + largest.start, count: largest.end - largest.start)
            (log.base + start).update(from: scratch.base, count: before)
            (log.base + start + before + largest.end - largest.start).update(
                from: scratch.base + before, count: scratch.count - before)
            log.count = owner.start
            log.head(0xA0, UInt64(order.count))
            log.count += content
            return true
        }
    }

    /// Lends the entries of a container in their order; of several with one key the one that counts.
    private func withSorted<Result>(_ node: Int, _ body: (UnsafeMutableBufferPointer<Int32>) -> Result) -> Result {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: max(nodes[node].count, 1)) { order in
            var count = 0
            var index = nodes[node].first
            while index >= 0 {
                order[count] = index
                count += 1
                index = entries[Int(index)].next
            }
            sort(UnsafeMutableBufferPointer(rebasing: order[..<count]))
            count = dropOverwritten(order, count, in: node)
            return body(UnsafeMutableBufferPointer(rebasing: order[..<count]))
        }
    }

    private func sort(_ order: UnsafeMutableBufferPointer<Int32>) {
        guard order.count > 12 else {
            var place = 1
            while place < order.count {
                let moving = order[place]
                var hole = place
                while hole > 0, precedes(moving, order[hole - 1]) {
                    order[hole] = order[hole - 1]
                    hole -= 1
                }
                order[hole] = moving
                place += 1
            }
            return
        }
        var many = order
        many.sort { precedes($0, $1) }
    }

    /// Keys ascend bytewise; equal keys keep the order in which they were written.
    @inline(__always)
    private func precedes(_ left: Int32, _ right: Int32) -> Bool {
        let (a, b) = (entries + Int(left), entries + Int(right))
        if a.pointee.prefix != b.pointee.prefix { return a.pointee.prefix < b.pointee.prefix }
        let order = compareKeys(a, b)
        return order == 0 ? left < right : order < 0
    }

    private func compareKeys(_ a: UnsafePointer<Entry>, _ b: UnsafePointer<Entry>) -> Int {
        BytesOrder.compare(
            log.base + a.pointee.start, Int(a.pointee.keyLength), log.base + b.pointee.start, Int(b.pointee.keyLength))
    }

    /// Of several values for one key the last counts; maps that were opened for the same key are one map.
    private func dropOverwritten(_ order: UnsafeMutableBufferPointer<Int32>, _ count: Int, in node: Int) -> Int {
        guard count > 1 else { return count }
        var kept = 0
        for place in 1..<count {
            let (earlier, later) = (entries + Int(order[kept]), entries + Int(order[place]))
            if earlier.pointee.prefix != later.pointee.prefix || compareKeys(earlier, later) != 0 {
                kept += 1
                order[kept] = order[place]
            } else if nodes[node].kind != .map {
                fail("two elements of a set or keys of a dictionary have the same encoding", node)
            } else if !merge(Int(later.pointee.child), into: Int(earlier.pointee.child)) {
                order[kept] = order[place]
            }
        }
        return kept + 1
    }

    private func merge(_ later: Int, into earlier: Int) -> Bool {
        guard later >= 0, earlier >= 0, nodes[later].kind == .map, nodes[earlier].kind == .map else { return false }
        makeEntries(later)
        makeEntries(earlier)
        guard nodes[later].first >= 0 else { return true }
        if nodes[earlier].last >= 0 {
            entries[Int(nodes[earlier].last)].next = nodes[later].first
        } else {
            nodes[earlier].first = nodes[later].first
        }
        nodes[earlier].last = nodes[later].last
        nodes[earlier].count += nodes[later].count
        return true
    }
}

/// The bytewise lexicographic order.
enum BytesOrder {
    /// Below, at or above zero as the first bytes come before, are, or come after the second; a prefix comes first.
    static func compare(_ a: UnsafePointer<UInt8>, _ aCount: Int, _ b: UnsafePointer<UInt8>, _ bCount: Int) -> Int {
        let common = min(aCount, bCount)
        var index = 0
        while index + 8 <= common {
            let x = UnsafeRawPointer(a + index).loadUnaligned(as: UInt64.self)
            let y = UnsafeRawPointer(b + index).loadUnaligned(as: UInt64.self)
            if x != y { return x.bigEndian < y.bigEndian ? -1 : 1 }
            index += 8
        }
        while index < common {
            if a[index] != b[index] { return a[index] < b[index] ? -1 : 1 }
            index += 1
        }
        return aCount == bCount ? 0 : aCount < bCount ? -1 : 1
    }
}

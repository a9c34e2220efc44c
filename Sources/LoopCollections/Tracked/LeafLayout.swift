// Unsafe: the offsets fit the types for which the layout was made, and the tree is retained during the walk.

/// The layout of a leaf of an order tree, computed once for many leaves.
///
/// Code that encodes, decodes and compares dictionaries of any type is not specialised. Without a layout, it would look up the
/// types of leaves and entries at each step, which takes longer than the step.
@usableFromInline
struct LeafLayout {
    /// The offset of the first entry in a leaf.
    @usableFromInline let entries: Int
    /// The offset of the value in an entry. The key comes first.
    @usableFromInline let value: Int
    @usableFromInline let stride: Int
    @usableFromInline let size: Int

    /// The offset of the header in a leaf, after the object's own two words.
    @usableFromInline static let header = 16

    @inlinable
    init<Key, Value>(_ key: Key.Type, _ value: Value.Type) {
        typealias Entry = OrderEntry<Key, Value>
        entries = Self.up(Self.header + MemoryLayout<OrderLeafHeader>.size, to: MemoryLayout<Entry>.alignment)
        self.value = Self.up(MemoryLayout<Key>.size, to: MemoryLayout<Value>.alignment)
        stride = MemoryLayout<Entry>.stride
        size = MemoryLayout<Entry>.size
    }

    @inlinable
    static func up(_ offset: Int, to alignment: Int) -> Int { (offset + alignment - 1) & ~(alignment - 1) }

    /// The header and the entries of a leaf that the caller retains.
    @inlinable @inline(__always)
    func parts(
        of leaf: Unmanaged<AnyObject>
    ) -> (header: UnsafeMutablePointer<OrderLeafHeader>, entries: UnsafeMutableRawPointer) {
        let object = unsafe leaf.toOpaque()
        return unsafe ((object + Self.header).assumingMemoryBound(to: OrderLeafHeader.self), object + entries)
    }

    /// Visits the entries of a tree that the caller retains, in order.
    @usableFromInline
    func forEach(in root: AnyObject?, height: Int, _ visit: (UnsafeMutableRawPointer) throws -> Void) rethrows {
        guard let root else { return }
        try withExtendedLifetime(root) { try unsafe forEach(Unmanaged.passUnretained(root), height, visit) }
    }

    private func forEach(
        _ node: Unmanaged<AnyObject>, _ height: Int, _ visit: (UnsafeMutableRawPointer) throws -> Void
    ) rethrows {
        if height == 0 {
            let (header, entries) = unsafe parts(of: node)
            for rank in unsafe 0..<header.pointee.count { try unsafe visit(entries + rank * stride) }
            return
        }
        let children = unsafe node._withUnsafeGuaranteedRef {
            unsafe unsafeDowncast($0, to: OrderBranch.self).parts.children
        }
        for child in 0..<TrieShape.width {
            if let object = unsafe children[child] {
                try unsafe forEach(Unmanaged.passUnretained(object), height - 1, visit)
            }
        }
    }

    /// Visits at most `max` entries from an ordinal on, in order, in a tree that the caller retains.
    /// - Returns: the ordinal of the entry after them, or nil if there is none.
    func forEach(
        from ordinal: Int, atMost max: Int, in root: AnyObject?, height: Int,
        _ visit: (UnsafeMutableRawPointer) throws -> Void
    ) rethrows -> Int? {
        guard let root else { return nil }
        var left = max
        return try withExtendedLifetime(root) {
            try unsafe forEach(Unmanaged.passUnretained(root), height, 0, from: ordinal, &left, visit)
        }
    }

    /// - Parameter base: the first ordinal that the node can have.
    private func forEach(
        _ node: Unmanaged<AnyObject>, _ height: Int, _ base: Int, from ordinal: Int, _ left: inout Int,
        _ visit: (UnsafeMutableRawPointer) throws -> Void
    ) rethrows -> Int? {
        let span = TrieShape.bits * height
        var slot = Swift.max(0, ordinal - base) >> span
        if height == 0 {
            let (header, entries) = unsafe parts(of: node)
            while slot < TrieShape.width {
                if unsafe header.pointee.bitmap & 1 << UInt16(slot) != 0 {
                    if left == 0 { return base + slot }
                    left -= 1
                    try unsafe visit(entries + header.pointee.rank(slot) * stride)
                }
                slot += 1
            }
            return nil
        }
        let children = unsafe node._withUnsafeGuaranteedRef {
            unsafe unsafeDowncast($0, to: OrderBranch.self).parts.children
        }
        while slot < TrieShape.width {
            if let child = unsafe children[slot],
                let next = try unsafe forEach(
                    Unmanaged.passUnretained(child), height - 1, base + slot << span, from: ordinal, &left, visit)
            {
                return next
            }
            slot += 1
        }
        return nil
    }

    /// Visits the entries of existing ordinals in a tree that the caller retains.
    func forEach(
        of ordinals: [Int], in root: AnyObject?, height: Int, _ visit: (UnsafeMutableRawPointer) throws -> Void
    ) rethrows {
        // In a large tree each entry is out of the processor's cache, so a run of entries is fetched at once.
        let run = 16
        try withExtendedLifetime(root) {
            try unsafe withUnsafeTemporaryAllocation(of: UnsafeMutableRawPointer?.self, capacity: run) { entries in
                var first = 0
                while first < ordinals.count {
                    let count = Swift.min(run, ordinals.count - first)
                    for place in 0..<count {
                        unsafe entries.initializeElement(
                            at: place, to: entry(at: ordinals[first + place], in: root, height: height))
                    }
                    for place in 0..<count { if let entry = unsafe entries[place] { try unsafe visit(entry) } }
                    first += count
                }
            }
        }
    }

    /// The entry of an ordinal in a tree that the caller retains, or nil if it does not exist.
    func entry(at ordinal: Int, in root: AnyObject?, height: Int) -> UnsafeMutableRawPointer? {
        var shift = TrieShape.bits * height
        guard let root, ordinal >> (shift + TrieShape.bits) == 0 else { return nil }
        var node = unsafe Unmanaged.passUnretained(root)
        while shift > 0 {
            let children = unsafe node._withUnsafeGuaranteedRef {
                unsafe unsafeDowncast($0, to: OrderBranch.self).parts.children
            }
            guard let child = unsafe children[ordinal >> shift & TrieShape.mask] else { return nil }
            unsafe node = unsafe Unmanaged.passUnretained(child)
            shift -= TrieShape.bits
        }
        let (header, entries) = unsafe parts(of: node)
        let slot = ordinal & TrieShape.mask
        guard unsafe header.pointee.bitmap & 1 << UInt16(slot) != 0 else { return nil }
        return unsafe entries + header.pointee.rank(slot) * stride
    }
}

extension OrderTree {
    /// A tree of full leaves, in order from the first ordinal on. The last leaf may have space.
    static func full(_ leaves: [AnyObject], count: Int) -> OrderTree {
        var tree = OrderTree(next: count)
        tree.count = count
        var nodes = leaves
        while nodes.count > 1 {
            nodes = stride(from: 0, to: nodes.count, by: TrieShape.width).map { first in
                let branch = OrderBranch.make()
                let children = nodes[first..<Swift.min(first + TrieShape.width, nodes.count)]
                for (place, child) in children.enumerated() { unsafe branch.parts.children[place] = child }
                unsafe branch.parts.count.pointee = children.count
                return branch
            }
            tree.height += 1
        }
        tree.root = nodes.first
        return tree
    }
}

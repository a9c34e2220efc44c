/// What a walk through two order trees comes by, in the order of ordinals.
@usableFromInline
enum OrderStep<Key, Value> {
    @usableFromInline typealias Entry = UnsafeMutablePointer<OrderEntry<Key, Value>>

    /// At least one entry that is the same in both, bit for bit.
    case shared
    /// An ordinal that only the old tree has.
    case old(Entry)
    /// An ordinal that only the new tree has.
    case new(Entry)
    /// An ordinal that both have, with entries that may differ.
    case both(old: Entry, new: Entry)
}

extension OrderTree {
    /// Walks through this tree and an older one together, and does not enter what they share.
    /// - Parameter visit: says whether to go on.
    /// - Returns: whether the walk came to its end.
    @inlinable
    func walk(from old: OrderTree, _ visit: (OrderStep<Key, Value>) -> Bool) -> Bool {
        withExtendedLifetime((old, self)) {
            Self.walk(Node(old.root), TrieShape.bits * old.height, Node(root), TrieShape.bits * height, visit)
        }
    }

    /// A node that somebody else holds: going through a tree counts no references.
    @usableFromInline
    struct Node {
        @usableFromInline let reference: Unmanaged<AnyObject>?

        @inlinable @inline(__always)
        init(_ object: AnyObject?) { reference = object.map { Unmanaged.passUnretained($0) } }

        /// A child as it is seen from a level: a tree that is lower has all it has in the first child.
        @inlinable @inline(__always)
        func child(_ child: Int, _ nodeShift: Int, at shift: Int) -> (Node, Int) {
            guard let reference else { return (self, 0) }
            if nodeShift < shift { return child == 0 ? (self, nodeShift) : (Node(nil), 0) }
            let branch = reference._withUnsafeGuaranteedRef { unsafeDowncast($0, to: OrderBranch.self).parts }
            return (Node(branch.children[child]), shift - TrieShape.bits)
        }

        @inlinable @inline(__always)
        func isSame(as other: Node) -> Bool { reference?.toOpaque() == other.reference?.toOpaque() }

        @inlinable
        var leaf: (header: UnsafeMutablePointer<OrderLeafHeader>, entries: UnsafeMutablePointer<Entry>)? {
            reference.map { $0._withUnsafeGuaranteedRef { unsafeDowncast($0, to: Leaf.self).parts } }
        }
    }

    @inlinable
    static func walk(
        _ old: Node, _ oldShift: Int, _ new: Node, _ newShift: Int, _ visit: (OrderStep<Key, Value>) -> Bool
    ) -> Bool {
        if old.isSame(as: new) { return old.reference == nil || visit(.shared) }
        let shift = Swift.max(old.reference == nil ? 0 : oldShift, new.reference == nil ? 0 : newShift)
        if shift == 0 { return walkLeaves(old.leaf, new.leaf, visit) }
        for child in 0..<TrieShape.width {
            let (oldChild, oldLevel) = old.child(child, oldShift, at: shift)
            let (newChild, newLevel) = new.child(child, newShift, at: shift)
            if oldChild.reference == nil, newChild.reference == nil { continue }
            guard walk(oldChild, oldLevel, newChild, newLevel, visit) else { return false }
        }
        return true
    }

    @inlinable
    static func walkLeaves(
        _ oldParts: (header: UnsafeMutablePointer<OrderLeafHeader>, entries: UnsafeMutablePointer<Entry>)?,
        _ newParts: (header: UnsafeMutablePointer<OrderLeafHeader>, entries: UnsafeMutablePointer<Entry>)?,
        _ visit: (OrderStep<Key, Value>) -> Bool
    ) -> Bool {
        let (oldBits, newBits) = (oldParts?.header.pointee.bitmap ?? 0, newParts?.header.pointee.bitmap ?? 0)
        var (oldRank, newRank) = (0, 0)
        var left = oldBits | newBits
        while left != 0 {
            let bit = left & (0 &- left)
            left &= left &- 1
            let before = oldBits & bit == 0 ? nil : oldParts.map { $0.entries + oldRank }
            let after = newBits & bit == 0 ? nil : newParts.map { $0.entries + newRank }
            if before != nil { oldRank += 1 }
            if after != nil { newRank += 1 }
            let step: OrderStep<Key, Value>
            switch (before, after) {
            case (let before?, let after?):
                step = areSameBits(before, after) ? .shared : .both(old: before, new: after)
            case (let before?, nil): step = .old(before)
            case (nil, let after?): step = .new(after)
            case (nil, nil): continue
            }
            guard visit(step) else { return false }
        }
        return true
    }

    /// Whether two entries are the same in memory, as copies of a value are. Padding may tell apart what is equal.
    @inlinable
    static func areSameBits(_ a: UnsafeMutablePointer<Entry>, _ b: UnsafeMutablePointer<Entry>) -> Bool {
        let (a, b) = (UnsafeRawPointer(a), UnsafeRawPointer(b))
        var offset = 0
        while offset + 8 <= MemoryLayout<Entry>.size {
            let (x, y) = (
                a.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
                b.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            )
            if x != y { return false }
            offset += 8
        }
        while offset < MemoryLayout<Entry>.size {
            if a.load(fromByteOffset: offset, as: UInt8.self) != b.load(fromByteOffset: offset, as: UInt8.self) {
                return false
            }
            offset += 1
        }
        return true
    }
}

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
        Self.walk(old.root, 4 * old.height, root, 4 * height, visit)
    }

    @inlinable
    static func walk(
        _ old: AnyObject?, _ oldShift: Int, _ new: AnyObject?, _ newShift: Int,
        _ visit: (OrderStep<Key, Value>) -> Bool
    ) -> Bool {
        if old === new { return old == nil || visit(.shared) }
        let shift = Swift.max(old == nil ? 0 : oldShift, new == nil ? 0 : newShift)
        if shift == 0 { return walkLeaves(old, new, visit) }
        for child in 0..<16 {
            let (oldChild, oldLevel) = Self.child(child, of: old, oldShift, at: shift)
            let (newChild, newLevel) = Self.child(child, of: new, newShift, at: shift)
            guard walk(oldChild, oldLevel, newChild, newLevel, visit) else { return false }
        }
        return true
    }

    /// A child of a node as it is seen from a level: a tree that is lower has all it has in the first child.
    @inlinable
    static func child(_ child: Int, of node: AnyObject?, _ nodeShift: Int, at shift: Int) -> (AnyObject?, Int) {
        guard let node else { return (nil, 0) }
        if nodeShift < shift { return child == 0 ? (node, nodeShift) : (nil, 0) }
        return (unsafeDowncast(node, to: OrderBranch.self).parts.children[child], shift - 4)
    }

    @inlinable
    static func walkLeaves(
        _ old: AnyObject?, _ new: AnyObject?, _ visit: (OrderStep<Key, Value>) -> Bool
    ) -> Bool {
        let oldParts = old.map { unsafeDowncast($0, to: Leaf.self).parts }
        let newParts = new.map { unsafeDowncast($0, to: Leaf.self).parts }
        let (oldBits, newBits) = (oldParts?.header.pointee.bitmap ?? 0, newParts?.header.pointee.bitmap ?? 0)
        var (oldRank, newRank) = (0, 0)
        var left = oldBits | newBits
        while left != 0 {
            let bit = left & (0 &- left)
            left &= left &- 1
            let step: OrderStep<Key, Value>
            switch (oldParts, newParts) {
            case (let old?, let new?) where oldBits & newBits & bit != 0:
                let (before, after) = (old.entries + oldRank, new.entries + newRank)
                step = areSameBits(before, after) ? .shared : .both(old: before, new: after)
                oldRank += 1
                newRank += 1
            case (let old?, _) where oldBits & bit != 0:
                step = .old(old.entries + oldRank)
                oldRank += 1
            case (_, let new?):
                step = .new(new.entries + newRank)
                newRank += 1
            default: preconditionFailure("a leaf's bitmap changed during a walk")
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

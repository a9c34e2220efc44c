// Unsafe: both trees are retained during the walk.

/// A step of a walk through two order trees, in the order of ordinals.
@usableFromInline
@safe enum OrderStep<Key, Value> {
    @usableFromInline typealias Entry = UnsafeMutablePointer<OrderEntry<Key, Value>>

    /// At least one entry that is equal in both, bit for bit.
    case shared
    /// An ordinal that only the old tree has.
    case old(Entry)
    /// An ordinal that only the new tree has.
    case new(Entry)
    /// An ordinal that both have, with entries that may differ.
    case both(old: Entry, new: Entry)
}

extension OrderTree {
    /// Walks through this tree and an older one together. It does not enter nodes that they share.
    /// - Parameter visit: returns whether to continue.
    /// - Returns: whether the walk reached its end.
    @inlinable
    func walk(from old: OrderTree, _ visit: (OrderStep<Key, Value>) -> Bool) -> Bool {
        withExtendedLifetime((old, self)) {
            unsafe OrderWalk(layout: LeafLayout(Key.self, Value.self)).nodes(
                OrderWalk.Node(old.root), TrieShape.bits * old.height, OrderWalk.Node(root), TrieShape.bits * height
            ) { before, after in
                switch unsafe (before, after) {
                case (let before?, let after?):
                    unsafe visit(
                        .both(
                            old: before.assumingMemoryBound(to: Entry.self),
                            new: after.assumingMemoryBound(to: Entry.self)))
                case (let before?, nil): unsafe visit(.old(before.assumingMemoryBound(to: Entry.self)))
                case (nil, let after?): unsafe visit(.new(after.assumingMemoryBound(to: Entry.self)))
                case (nil, nil): visit(.shared)
                }
            }
        }
    }
}

/// A walk through two order trees of one type.
@usableFromInline
struct OrderWalk {
    /// The entries of one ordinal in the old tree and in the new one. If both are nil, entries are equal, bit for bit.
    @usableFromInline typealias Visit = (_ old: UnsafeMutableRawPointer?, _ new: UnsafeMutableRawPointer?) -> Bool

    @usableFromInline let layout: LeafLayout

    @inlinable
    init(layout: LeafLayout) { self.layout = layout }

    /// A node that another owner retains, because a walk through a tree counts no references.
    @usableFromInline
    @safe struct Node {
        @usableFromInline let reference: Unmanaged<AnyObject>?

        @inlinable @inline(__always)
        init(_ object: AnyObject?) { unsafe reference = unsafe object.map { unsafe Unmanaged.passUnretained($0) } }

        /// A child as seen from a level. For a tree that is lower than the level, the first child has everything.
        @inline(__always)
        func child(_ child: Int, _ nodeShift: Int, at shift: Int) -> (Node, Int) {
            guard let reference = unsafe reference else { return (self, 0) }
            if nodeShift < shift { return child == 0 ? (self, nodeShift) : (Node(nil), 0) }
            let branch = unsafe reference._withUnsafeGuaranteedRef {
                unsafe unsafeDowncast($0, to: OrderBranch.self).parts
            }
            return unsafe (Node(branch.children[child]), shift - TrieShape.bits)
        }

        @inline(__always)
        func isSame(as other: Node) -> Bool { unsafe reference?.toOpaque() == other.reference?.toOpaque() }
    }

    @usableFromInline
    func nodes(_ old: Node, _ oldShift: Int, _ new: Node, _ newShift: Int, _ visit: Visit) -> Bool {
        if old.isSame(as: new) { return unsafe old.reference == nil || visit(nil, nil) }
        let shift = unsafe Swift.max(old.reference == nil ? 0 : oldShift, new.reference == nil ? 0 : newShift)
        if shift == 0 { return unsafe leaves(old, new, visit) }
        for child in 0..<TrieShape.width {
            let (oldChild, oldLevel) = old.child(child, oldShift, at: shift)
            let (newChild, newLevel) = new.child(child, newShift, at: shift)
            if unsafe oldChild.reference == nil, unsafe newChild.reference == nil { continue }
            guard unsafe nodes(oldChild, oldLevel, newChild, newLevel, visit) else { return false }
        }
        return true
    }

    private func leaves(_ old: Node, _ new: Node, _ visit: Visit) -> Bool {
        let (oldParts, newParts) = unsafe (old.reference.map(layout.parts), new.reference.map(layout.parts))
        let (oldBits, newBits) = unsafe (oldParts?.header.pointee.bitmap ?? 0, newParts?.header.pointee.bitmap ?? 0)
        var (oldPlace, newPlace) = (0, 0)
        var left = oldBits | newBits
        while left != 0 {
            let bit = left & (0 &- left)
            left &= left &- 1
            let before = unsafe oldBits & bit == 0 ? nil : oldParts.map { unsafe $0.entries + oldPlace }
            let after = unsafe newBits & bit == 0 ? nil : newParts.map { unsafe $0.entries + newPlace }
            if unsafe before != nil { oldPlace += layout.stride }
            if unsafe after != nil { newPlace += layout.stride }
            if let before = unsafe before, let after = unsafe after, unsafe areSameBits(before, after) {
                guard visit(nil, nil) else { return false }
            } else {
                guard unsafe visit(before, after) else { return false }
            }
        }
        return true
    }

    /// Whether two entries have equal bits in memory, as copies of a value do. Padding may make equal values differ.
    private func areSameBits(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Bool {
        var offset = 0
        while offset + 8 <= layout.size {
            let (x, y) = unsafe (
                a.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
                b.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            )
            if x != y { return false }
            offset += 8
        }
        while offset < layout.size {
            if unsafe a.load(fromByteOffset: offset, as: UInt8.self) != b.load(fromByteOffset: offset, as: UInt8.self) {
                return false
            }
            offset += 1
        }
        return true
    }
}

// Unsafe: the root retains every node of the path, and entries are changed only in nodes with no other owner.

/// The entries of a `TrackedDictionary` in the order of their insertion: a persistent radix tree over ascending ordinals. A copy
/// shares all nodes. A change copies the nodes on its path that others also own.
@usableFromInline
struct OrderTree<Key, Value> {
    @usableFromInline typealias Leaf = OrderLeaf<Key, Value>
    @usableFromInline typealias Entry = OrderEntry<Key, Value>
    @usableFromInline typealias Slot = UnsafeMutablePointer<AnyObject?>

    @usableFromInline var root: AnyObject?
    /// The number of levels of branches above the leaves.
    @usableFromInline var height = 0
    /// The ordinal of the next entry.
    @usableFromInline var next = 0
    @usableFromInline var count = 0

    @inlinable
    init(next: Int = 0) { self.next = next }

    // MARK: Reading

    /// The entry of an existing ordinal. Valid while the tree is retained and not changed.
    @inlinable
    func entry(at ordinal: Int) -> UnsafeMutablePointer<Entry> {
        guard let root else { preconditionFailure("an empty dictionary has no entry \(ordinal)") }
        var node = unsafe Unmanaged.passUnretained(root)
        var shift = TrieShape.bits * height
        while shift > 0 {
            unsafe node = unsafe node._withUnsafeGuaranteedRef {
                let branch = unsafe unsafeDowncast($0, to: OrderBranch.self)
                return unsafe Unmanaged.passUnretained(
                    branch.parts.children[ordinal >> shift & TrieShape.mask].unsafelyUnwrapped)
            }
            shift -= TrieShape.bits
        }
        return unsafe node._withUnsafeGuaranteedRef {
            let (header, entries) = unsafe unsafeDowncast($0, to: Leaf.self).parts
            return unsafe entries + header.pointee.rank(ordinal & TrieShape.mask)
        }
    }

    // MARK: Changing

    /// The leaf of an existing ordinal. This tree is its only owner afterwards.
    @inlinable
    mutating func uniqueLeaf(at ordinal: Int) -> Leaf {
        var shift = TrieShape.bits * height
        return unsafe withUnsafeMutablePointer(to: &root) { slot in
            var slot = unsafe slot
            while shift > 0 {
                unsafe slot = unsafe Self.uniqueBranch(slot).parts.children + (ordinal >> shift & TrieShape.mask)
                shift -= TrieShape.bits
            }
            return unsafe Self.uniqueLeaf(slot)
        }
    }

    /// The entry of an existing ordinal, to be changed.
    @inlinable
    mutating func uniqueEntry(at ordinal: Int) -> UnsafeMutablePointer<Entry> {
        let (header, entries) = unsafe uniqueLeaf(at: ordinal).parts
        return unsafe entries + header.pointee.rank(ordinal & TrieShape.mask)
    }

    @inlinable
    static func uniqueBranch(_ slot: Slot) -> OrderBranch {
        if unsafe !isKnownUniquelyReferenced(&slot.pointee) {
            unsafe slot.pointee =
                unsafe slot.pointee.map { unsafe unsafeDowncast($0, to: OrderBranch.self).copy() } ?? .make()
        }
        return unsafe unsafeDowncast(slot.pointee.unsafelyUnwrapped, to: OrderBranch.self)
    }

    @inlinable
    static func uniqueLeaf(_ slot: Slot) -> Leaf {
        if unsafe !isKnownUniquelyReferenced(&slot.pointee) {
            let leaf = unsafe unsafeDowncast(slot.pointee.unsafelyUnwrapped, to: Leaf.self)
            unsafe slot.pointee = unsafe leaf.copy(capacity: leaf.parts.header.pointee.count)
        }
        return unsafe unsafeDowncast(slot.pointee.unsafelyUnwrapped, to: Leaf.self)
    }

    /// Appends an entry, and returns its ordinal.
    @inlinable
    mutating func append(_ entry: consuming Entry) -> Int {
        let ordinal = next
        next += 1
        count += 1
        while ordinal >> (TrieShape.bits * (height + 1)) != 0 {
            if let low = root {
                let branch = OrderBranch.make()
                unsafe branch.parts.children.pointee = low
                unsafe branch.parts.count.pointee = 1
                root = branch
            }
            height += 1
        }
        leafForAppending(ordinal).append(entry, slot: ordinal & TrieShape.mask)
        return ordinal
    }

    @inlinable
    mutating func leafForAppending(_ ordinal: Int) -> Leaf {
        var shift = TrieShape.bits * height
        return unsafe withUnsafeMutablePointer(to: &root) { slot in
            var slot = unsafe slot
            while shift > 0 {
                let (count, children) = unsafe Self.uniqueBranch(slot).parts
                unsafe slot = unsafe children + (ordinal >> shift & TrieShape.mask)
                if unsafe slot.pointee == nil { unsafe count.pointee += 1 }
                shift -= TrieShape.bits
            }
            if unsafe slot.pointee == nil {
                unsafe slot.pointee = Leaf.make(capacity: TrieShape.width)
            } else if unsafe !isKnownUniquelyReferenced(&slot.pointee) || Self.isFull(slot) {
                unsafe slot.pointee = unsafe unsafeDowncast(slot.pointee.unsafelyUnwrapped, to: Leaf.self).copy(
                    capacity: TrieShape.width)
            }
            return unsafe unsafeDowncast(slot.pointee.unsafelyUnwrapped, to: Leaf.self)
        }
    }

    @inlinable
    static func isFull(_ slot: Slot) -> Bool {
        let header = unsafe unsafeDowncast(slot.pointee.unsafelyUnwrapped, to: Leaf.self).parts.header
        return unsafe header.pointee.count == Int(header.pointee.capacity)
    }

    /// Removes the entry of an existing ordinal.
    @inlinable
    mutating func remove(at ordinal: Int) -> Entry {
        let entry = unsafe uniqueEntry(at: ordinal).move()
        close(ordinal)
        return entry
    }

    /// Closes the gap of an entry that was moved out of its unique leaf.
    @inlinable
    mutating func close(_ ordinal: Int) {
        count -= 1
        // The leaf that is being filled keeps its space.
        let isFilling = ordinal >> TrieShape.bits == next >> TrieShape.bits
        unsafe withUnsafeMutablePointer(to: &root) {
            unsafe Self.close(ordinal, $0, TrieShape.bits * height, isFilling)
        }
        if count == 0 { self = OrderTree() }
    }

    @inlinable
    static func close(_ ordinal: Int, _ slot: Slot, _ shift: Int, _ isFilling: Bool) {
        if shift == 0 {
            let leaf = unsafe Unmanaged.passUnretained(unsafeDowncast(slot.pointee.unsafelyUnwrapped, to: Leaf.self))
            let header = unsafe leaf._withUnsafeGuaranteedRef {
                $0.close(slot: ordinal & TrieShape.mask)
                return unsafe $0.parts.header.pointee
            }
            if header.bitmap == 0 {
                unsafe slot.pointee = nil
            } else if !isFilling, header.count * 4 <= Int(header.capacity) {
                unsafe slot.pointee = unsafe leaf._withUnsafeGuaranteedRef { $0.copy(capacity: header.count) }
            }
            return
        }
        let (count, children) = unsafe unsafeDowncast(slot.pointee.unsafelyUnwrapped, to: OrderBranch.self).parts
        let child = unsafe children + (ordinal >> shift & TrieShape.mask)
        unsafe close(ordinal, child, shift - TrieShape.bits, isFilling)
        if unsafe child.pointee == nil {
            unsafe count.pointee -= 1
            if unsafe count.pointee == 0 { unsafe slot.pointee = nil }
        }
    }
}

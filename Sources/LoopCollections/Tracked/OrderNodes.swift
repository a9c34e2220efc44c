// Unsafe: a leaf's entries lie in its own memory, as many as its header counts.

/// A key and its value, side by side in a leaf.
@usableFromInline
struct OrderEntry<Key, Value> {
    @usableFromInline var key: Key
    @usableFromInline var value: Value

    @inlinable
    init(key: Key, value: Value) {
        self.key = key
        self.value = value
    }
}

/// A leaf of the order tree: the entries of 16 successive ordinals, as far as they are there, without gaps.
@usableFromInline
final class OrderLeaf<Key, Value>: ManagedBuffer<OrderLeafHeader, OrderEntry<Key, Value>> {
    @usableFromInline typealias Entry = OrderEntry<Key, Value>

    @inlinable
    deinit {
        // Most are empty. Where the entries of others lie is asked of their type, as code of a `deinit` is not specialised.
        if unsafe withUnsafeMutablePointerToHeader({ unsafe $0.pointee.bitmap }) == 0 { return }
        _ = unsafe withUnsafeMutablePointers { header, entries in
            unsafe entries.deinitialize(count: header.pointee.count)
        }
    }

    /// Valid while the leaf is held.
    @inlinable
    var parts: (header: UnsafeMutablePointer<OrderLeafHeader>, entries: UnsafeMutablePointer<Entry>) {
        unsafe withUnsafeMutablePointers { unsafe ($0, $1) }
    }

    @inlinable
    static func make(capacity: Int) -> OrderLeaf {
        let leaf = create(minimumCapacity: capacity) { _ in OrderLeafHeader(bitmap: 0, capacity: UInt16(capacity)) }
        return unsafe unsafeDowncast(leaf, to: OrderLeaf.self)
    }

    /// A leaf of the same entries with room for `capacity`.
    @inlinable
    func copy(capacity: Int) -> OrderLeaf {
        let (header, entries) = unsafe parts
        let leaf = Self.make(capacity: capacity)
        let (newHeader, newEntries) = unsafe leaf.parts
        unsafe newEntries.initialize(from: entries, count: header.pointee.count)
        unsafe newHeader.pointee.bitmap = unsafe header.pointee.bitmap
        return leaf
    }

    /// Appends an entry.
    @inlinable
    func append(_ entry: consuming Entry, slot: Int) {
        let (header, entries) = unsafe parts
        unsafe (entries + header.pointee.count).initialize(to: entry)
        unsafe header.pointee.bitmap |= 1 << UInt16(slot)
    }

    /// Closes the gap of an entry that was moved out.
    @inlinable
    func close(slot: Int) {
        let (header, entries) = unsafe parts
        let rank = unsafe header.pointee.rank(slot)
        let behind = unsafe header.pointee.count - rank - 1
        unsafe (entries + rank).moveInitialize(from: entries + rank + 1, count: behind)
        unsafe header.pointee.bitmap &= ~(1 << UInt16(slot))
    }
}

@usableFromInline
struct OrderLeafHeader {
    /// Which of the ordinals are there.
    @usableFromInline var bitmap: UInt16
    @usableFromInline var capacity: UInt16

    @inlinable
    init(bitmap: UInt16, capacity: UInt16) {
        self.bitmap = bitmap
        self.capacity = capacity
    }

    @inlinable var count: Int { bitmap.nonzeroBitCount }

    /// How many entries are before this slot. Mostly all are there: the processor guesses so, and reads the entry while the
    /// bitmap is still under way.
    @inlinable
    func rank(_ slot: Int) -> Int {
        let before: UInt16 = 1 << UInt16(slot) &- 1
        return _fastPath(bitmap & before == before) ? slot : (bitmap & before).nonzeroBitCount
    }

}

/// An inner node of the order tree: up to 16 children, which are branches or leaves as the level says.
@usableFromInline
final class OrderBranch: ManagedBuffer<Int, AnyObject?> {
    @inlinable
    deinit {
        _ = unsafe withUnsafeMutablePointerToElements { unsafe $0.deinitialize(count: TrieShape.width) }
    }

    /// Valid while the branch is held. The header counts the children.
    @inlinable
    var parts: (count: UnsafeMutablePointer<Int>, children: UnsafeMutablePointer<AnyObject?>) {
        unsafe withUnsafeMutablePointers { unsafe ($0, $1) }
    }

    @usableFromInline
    static func make() -> OrderBranch {
        let branch = unsafe unsafeDowncast(create(minimumCapacity: TrieShape.width) { _ in 0 }, to: OrderBranch.self)
        unsafe branch.parts.children.initialize(repeating: nil, count: TrieShape.width)
        return branch
    }

    @usableFromInline
    func copy() -> OrderBranch {
        let (count, children) = unsafe parts
        let branch = unsafe unsafeDowncast(
            Self.create(minimumCapacity: TrieShape.width) { _ in unsafe count.pointee }, to: OrderBranch.self)
        unsafe branch.parts.children.initialize(from: children, count: TrieShape.width)
        return branch
    }
}

/// How wide the nodes of both trees are. Copying a node retains its children and entries, most of which are not in the
/// processor's cache in a large dictionary, so that narrow nodes make the first change after a copy cheap; wide ones would
/// make the paths shorter.
@usableFromInline
enum TrieShape {
    @inlinable static var bits: Int { 4 }
    @inlinable static var width: Int { 1 << bits }
    @inlinable static var mask: Int { width - 1 }
}

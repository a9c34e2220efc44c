// Unsafe: the entries of a leaf are in its own memory, and its header counts them.

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

/// A leaf of the order tree: the existing entries of 16 successive ordinals, without gaps.
@usableFromInline
final class OrderLeaf<Key, Value>: ManagedBuffer<OrderLeafHeader, OrderEntry<Key, Value>> {
    @usableFromInline typealias Entry = OrderEntry<Key, Value>

    @inlinable
    deinit {
        // Most leaves are empty here. For others the runtime looks up the layout of entries, because code of a `deinit` is not
        // specialised.
        if unsafe withUnsafeMutablePointerToHeader({ unsafe $0.pointee.bitmap }) == 0 { return }
        _ = unsafe withUnsafeMutablePointers { header, entries in
            unsafe entries.deinitialize(count: header.pointee.count)
        }
    }

    /// Valid while the leaf is retained.
    @inlinable
    var parts: (header: UnsafeMutablePointer<OrderLeafHeader>, entries: UnsafeMutablePointer<Entry>) {
        unsafe withUnsafeMutablePointers { unsafe ($0, $1) }
    }

    @inlinable
    static func make(capacity: Int) -> OrderLeaf {
        let leaf = create(minimumCapacity: capacity) { _ in OrderLeafHeader(bitmap: 0, capacity: UInt16(capacity)) }
        return unsafe unsafeDowncast(leaf, to: OrderLeaf.self)
    }

    /// A copy of this leaf with space for `capacity` entries.
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
    /// The ordinals in this leaf that exist, as bits.
    @usableFromInline var bitmap: UInt16
    @usableFromInline var capacity: UInt16

    @inlinable
    init(bitmap: UInt16, capacity: UInt16) {
        self.bitmap = bitmap
        self.capacity = capacity
    }

    @inlinable var count: Int { bitmap.nonzeroBitCount }

    /// The number of entries before this slot. Usually all of them exist. The processor predicts that, and reads the entry before
    /// it has the bitmap.
    @inlinable
    func rank(_ slot: Int) -> Int {
        let before: UInt16 = 1 << UInt16(slot) &- 1
        return _fastPath(bitmap & before == before) ? slot : (bitmap & before).nonzeroBitCount
    }

}

/// An inner node of the order tree, with up to 16 children. The level decides whether they are branches or leaves.
@usableFromInline
final class OrderBranch: ManagedBuffer<Int, AnyObject?> {
    @inlinable
    deinit {
        _ = unsafe withUnsafeMutablePointerToElements { unsafe $0.deinitialize(count: TrieShape.width) }
    }

    /// Valid while the branch is retained. The header counts the children.
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

/// The width of the nodes of both trees. Copying a node retains its children and entries, and in a large dictionary most of them
/// are not in the processor's cache. So narrow nodes make the first change after a copy cheap. Wide ones would make paths shorter.
@usableFromInline
enum TrieShape {
    @inlinable static var bits: Int { 4 }
    @inlinable static var width: Int { 1 << bits }
    @inlinable static var mask: Int { width - 1 }
}

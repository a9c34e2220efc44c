// Unsafe: the dictionary is retained while its entries are read, and its ordinals belong to its entries.

// Iteration in order of insertion.

extension TrackedDictionary: BidirectionalCollection {
    /// An entry: its key and its value.
    public typealias Element = (key: Key, value: Value)

    /// The position of an entry. It stays valid while the entry exists and the dictionary has not been emptied.
    public struct Index: Comparable, Hashable, Sendable {
        @usableFromInline let ordinal: Int

        @inlinable
        init(_ ordinal: Int) { self.ordinal = ordinal }

        /// Orders positions by insertion: the lower one was inserted earlier.
        @inlinable
        public static func < (a: Index, b: Index) -> Bool { a.ordinal < b.ordinal }
    }

    /// The position of the oldest entry, or `endIndex` if there is none.
    @inlinable public var startIndex: Index { Index(order.ordinal(from: 0) ?? order.next) }

    /// The position after the newest entry.
    @inlinable public var endIndex: Index { Index(order.next) }

    /// The position of the next entry, or `endIndex`. Takes a few steps down a tree.
    @inlinable
    public func index(after place: Index) -> Index { Index(order.ordinal(from: place.ordinal + 1) ?? order.next) }

    /// The position of the previous entry. Traps at `startIndex`. Takes a few steps down a tree.
    @inlinable
    public func index(before place: Index) -> Index {
        guard let ordinal = order.ordinal(before: place.ordinal) else {
            preconditionFailure("there is no entry before the first")
        }
        return Index(ordinal)
    }

    /// The entry at a position. Traps if the entry was removed. Takes a few steps down a tree.
    @inlinable
    public subscript(place: Index) -> Element {
        precondition(order.ordinal(from: place.ordinal) == place.ordinal, "there is no entry at this place any more")
        let entry = unsafe order.entry(at: place.ordinal)
        return unsafe (entry.pointee.key, entry.pointee.value)
    }

    /// Visits the entries leaf by leaf.
    @safe public struct Iterator: IteratorProtocol {
        @usableFromInline let order: OrderTree<Key, Value>
        @usableFromInline var leaf: OrderLeaf<Key, Value>?
        @usableFromInline var rank = 0
        @usableFromInline var nextOrdinal = 0
        /// The sibling leaves. The iterator owns the whole tree, so that it cannot change.
        @usableFromInline var siblings: UnsafeMutablePointer<AnyObject?>?

        @inlinable
        init(_ order: OrderTree<Key, Value>) {
            self.order = order
            advance()
        }

        @inlinable
        mutating func advance() {
            rank = 0
            // Usually the next leaf is the next sibling.
            let child = nextOrdinal >> TrieShape.bits & TrieShape.mask
            if let siblings = unsafe siblings, child > 0, let next = unsafe siblings[child] {
                leaf = unsafe unsafeDowncast(next, to: OrderLeaf<Key, Value>.self)
                nextOrdinal += TrieShape.width
                return
            }
            guard let ordinal = order.ordinal(from: nextOrdinal) else {
                leaf = nil
                return
            }
            unsafe (leaf, siblings) = unsafe order.leaf(at: ordinal)
            nextOrdinal = (ordinal | TrieShape.mask) + 1
        }

        /// The next entry in order of insertion, or nil after the newest.
        @inlinable
        public mutating func next() -> Element? {
            guard let leaf else { return nil }
            let (header, entries) = unsafe leaf.parts
            let entry = unsafe entries + rank
            let element = unsafe (key: entry.pointee.key, value: entry.pointee.value)
            rank += 1
            if unsafe rank == header.pointee.count { advance() }
            return element
        }
    }

    /// An iterator from the oldest entry to the newest. It keeps the entries as they are now.
    @inlinable
    public func makeIterator() -> Iterator { Iterator(order) }

    /// The exact count, so that arrays of the entries are allocated once.
    @inlinable public var underestimatedCount: Int { count }

    /// The keys in order of insertion.
    @inlinable public var keys: LazyMapCollection<Self, Key> { lazy.map(\.key) }

    /// The values in order of insertion.
    @inlinable public var values: LazyMapCollection<Self, Value> { lazy.map(\.value) }

    /// A dictionary with these keys in this order and other values.
    /// - Throws: what `transform` throws.
    @inlinable
    public func mapValues<T>(_ transform: (Value) throws -> T) rethrows -> TrackedDictionary<Key, T> {
        var mapped = TrackedDictionary<Key, T>()
        for (key, value) in self { mapped.insert(key, try transform(value), IndexWord.hash(key)) }
        return mapped
    }

    /// The entries for which the predicate holds, in their order.
    /// - Throws: what the predicate throws.
    @inlinable
    public func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> TrackedDictionary {
        var kept = TrackedDictionary()
        for element in self where try isIncluded(element) {
            kept.insert(element.key, element.value, IndexWord.hash(element.key))
        }
        return kept
    }
}

extension TrackedDictionary: ExpressibleByDictionaryLiteral {
    /// Creates a dictionary of the entries of a literal, in its order. If a key occurs several times, its last value counts, at its
    /// first position.
    @inlinable
    public init(dictionaryLiteral elements: (Key, Value)...) { self.init(elements) }
}

extension TrackedDictionary: CustomStringConvertible {
    /// A text such as `["a": 1, "b": 2]`, in order of insertion.
    public var description: String {
        if isEmpty { return "[:]" }
        return "[" + map { "\(String(reflecting: $0.key)): \(String(reflecting: $0.value))" }.joined(separator: ", ")
            + "]"
    }
}

extension OrderTree {
    /// The first ordinal at or after this one.
    @inlinable
    func ordinal(from ordinal: Int) -> Int? {
        if ordinal >= next { return nil }
        return Self.first(from: ordinal, in: root, TrieShape.bits * height)
    }

    /// The first ordinal in a node whose lower bits, those below its level, are at or after those of `ordinal`.
    @inlinable
    static func first(from ordinal: Int, in node: AnyObject?, _ shift: Int) -> Int? {
        guard let node else { return nil }
        let from = ordinal >> shift & TrieShape.mask
        let above = ordinal & ~(TrieShape.width << shift - 1)
        if shift == 0 {
            let bitmap =
                unsafe unsafeDowncast(node, to: Leaf.self).parts.header.pointee.bitmap & ~(1 << UInt16(from) - 1)
            return bitmap == 0 ? nil : above | bitmap.trailingZeroBitCount
        }
        let children = unsafe unsafeDowncast(node, to: OrderBranch.self).parts.children
        if let found = unsafe first(from: ordinal, in: children[from], shift - TrieShape.bits) { return found }
        for child in from + 1..<TrieShape.width {
            if let found = unsafe first(from: above | child << shift, in: children[child], shift - TrieShape.bits) {
                return found
            }
        }
        return nil
    }

    /// The last ordinal before this one.
    @inlinable
    func ordinal(before ordinal: Int) -> Int? {
        if ordinal <= 0 { return nil }
        let last = Swift.min(ordinal - 1, 1 << (TrieShape.bits * (height + 1)) - 1)
        return Self.last(upTo: last, in: root, TrieShape.bits * height)
    }

    @inlinable
    static func last(upTo ordinal: Int, in node: AnyObject?, _ shift: Int) -> Int? {
        guard let node else { return nil }
        let upTo = ordinal >> shift & TrieShape.mask
        let above = ordinal & ~(TrieShape.width << shift - 1)
        if shift == 0 {
            let bitmap =
                unsafe unsafeDowncast(node, to: Leaf.self).parts.header.pointee.bitmap & (2 << UInt16(upTo) &- 1)
            return bitmap == 0 ? nil : above | (15 - bitmap.leadingZeroBitCount)
        }
        let children = unsafe unsafeDowncast(node, to: OrderBranch.self).parts.children
        if let found = unsafe last(upTo: ordinal, in: children[upTo], shift - TrieShape.bits) { return found }
        for child in (0..<upTo).reversed() {
            let end = above | child << shift | (1 << shift - 1)
            if let found = unsafe last(upTo: end, in: children[child], shift - TrieShape.bits) { return found }
        }
        return nil
    }

    /// The leaf of an existing ordinal, and the children of the branch above it.
    @inlinable
    func leaf(at ordinal: Int) -> (leaf: Leaf, siblings: UnsafeMutablePointer<AnyObject?>?) {
        guard var node = root else { preconditionFailure("an empty dictionary has no leaf") }
        var shift = TrieShape.bits * height
        var siblings: UnsafeMutablePointer<AnyObject?>?
        while shift > 0 {
            let children = unsafe unsafeDowncast(node, to: OrderBranch.self).parts.children
            unsafe siblings = unsafe children
            node = unsafe children[ordinal >> shift & TrieShape.mask].unsafelyUnwrapped
            shift -= TrieShape.bits
        }
        return unsafe (unsafeDowncast(node, to: Leaf.self), siblings)
    }
}

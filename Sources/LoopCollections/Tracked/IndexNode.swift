// Unsafe: a node's words are in its own memory, and a branch owns one reference for each child.

/// A node of the hash trie. It is a branch with as many children as `TrieShape` says, or a bucket with a table of words, probed
/// linearly.
///
/// Both are one class, so that a child needs no dynamic cast. A branch's words are references that it owns.
@usableFromInline
final class IndexNode: ManagedBuffer<IndexNode.Header, UInt64> {
    @usableFromInline
    struct Header {
        /// The number of words in a bucket.
        @usableFromInline var count: Int
        /// A bucket's capacity, a power of two, minus one; negative for a branch.
        @usableFromInline var mask: Int

        @inlinable
        init(count: Int, mask: Int) {
            self.count = count
            self.mask = mask
        }

        @inlinable var isBranch: Bool { mask < 0 }
    }

    @usableFromInline typealias Parts = (header: UnsafeMutablePointer<Header>, words: UnsafeMutablePointer<UInt64>)

    /// The largest capacity of a bucket. A larger one becomes a branch, unless the hash has no more bits to distinguish its keys.
    @usableFromInline static let bucketCapacityMax = 512
    @usableFromInline static let depthMax = Int(IndexWord.hashBits) / TrieShape.bits

    @inlinable
    deinit {
        let (header, words) = unsafe parts
        guard unsafe header.pointee.isBranch else { return }
        unsafe Self.children(words).deinitialize(count: TrieShape.width)
    }

    // MARK: Memory

    /// Valid while the node is retained.
    @inlinable
    var parts: Parts { unsafe withUnsafeMutablePointers { unsafe ($0, $1) } }

    /// The parts of a branch's child.
    @inlinable
    static func parts(_ words: UnsafeMutablePointer<UInt64>, child: Int) -> Parts {
        unsafe Unmanaged.passUnretained(children(words)[child])._withUnsafeGuaranteedRef { unsafe $0.parts }
    }

    /// A branch's memory as the references that it owns.
    @inlinable
    static func children(_ words: UnsafeMutablePointer<UInt64>) -> UnsafeMutablePointer<IndexNode> {
        unsafe UnsafeMutableRawPointer(words).assumingMemoryBound(to: IndexNode.self)
    }

    @usableFromInline
    static func bucket(capacity: Int) -> IndexNode {
        let node = make(Header(count: 0, mask: capacity - 1), capacity: capacity)
        unsafe node.parts.words.initialize(repeating: 0, count: capacity)
        return node
    }

    /// A branch with these children.
    static func branch(_ child: (Int) -> IndexNode) -> IndexNode {
        let branch = make(Header(count: 0, mask: -1), capacity: TrieShape.width)
        let children = unsafe bindChildren(branch)
        for number in 0..<TrieShape.width { unsafe (children + number).initialize(to: child(number)) }
        return branch
    }

    private static func make(_ header: Header, capacity: Int) -> IndexNode {
        unsafe unsafeDowncast(create(minimumCapacity: capacity) { _ in header }, to: IndexNode.self)
    }

    private static func bindChildren(_ branch: IndexNode) -> UnsafeMutablePointer<IndexNode> {
        unsafe UnsafeMutableRawPointer(branch.parts.words).bindMemory(to: IndexNode.self, capacity: TrieShape.width)
    }

    @usableFromInline
    func copy() -> IndexNode {
        let (header, words) = unsafe parts
        let size = unsafe header.pointee.isBranch ? TrieShape.width : header.pointee.mask + 1
        let node = unsafe Self.make(header.pointee, capacity: size)
        if unsafe header.pointee.isBranch {
            unsafe Self.bindChildren(node).initialize(from: Self.children(words), count: TrieShape.width)
        } else {
            unsafe node.parts.words.initialize(from: words, count: size)
        }
        return node
    }

    // MARK: Changing

    @usableFromInline
    static func insert(_ word: UInt64, into node: inout IndexNode, depth: Int) {
        let isUnique = isKnownUniquelyReferenced(&node)
        var (header, words) = unsafe node.parts
        if unsafe !header.pointee.isBranch, unsafe (header.pointee.count + 1) * 4 > (header.pointee.mask + 1) * 3 {
            node = node.enlarged(depth)
            unsafe (header, words) = unsafe node.parts
        } else if !isUnique {
            node = node.copy()
            unsafe (header, words) = unsafe node.parts
        }
        if unsafe header.pointee.isBranch {
            let child = home(word, depth, TrieShape.mask)
            return unsafe insert(word, into: &children(words)[child], depth: depth + 1)
        }
        unsafe put(word, into: header, words, depth)
    }

    private static func put(
        _ word: UInt64, into header: UnsafeMutablePointer<Header>, _ words: UnsafeMutablePointer<UInt64>, _ depth: Int
    ) {
        var place = unsafe home(word, depth, header.pointee.mask)
        while unsafe words[place] != 0 { place = unsafe (place + 1) & header.pointee.mask }
        unsafe words[place] = word
        unsafe header.pointee.count += 1
    }

    /// The index at which a word belongs in a bucket at this depth.
    @inline(__always)
    static func home(_ word: UInt64, _ depth: Int, _ mask: Int) -> Int {
        Int(truncatingIfNeeded: (word & IndexWord.hashMask) >> UInt64(TrieShape.bits * depth)) & mask
    }

    /// A larger bucket with these words, or a branch of buckets.
    private func enlarged(_ depth: Int) -> IndexNode {
        let (header, words) = unsafe parts
        let capacity = unsafe header.pointee.mask + 1
        if capacity < Self.bucketCapacityMax || depth >= Self.depthMax {
            return rehashed(capacity * 2, depth)
        }
        let branch = Self.branch { _ in .bucket(capacity: 64) }
        let children = unsafe Self.children(branch.parts.words)
        for place in 0..<capacity where unsafe words[place] != 0 {
            unsafe Self.insert(
                words[place], into: &children[Self.home(words[place], depth, TrieShape.mask)], depth: depth + 1)
        }
        return branch
    }

    private func rehashed(_ capacity: Int, _ depth: Int) -> IndexNode {
        let (header, words) = unsafe parts
        let bucket = Self.bucket(capacity: capacity)
        let (newHeader, newWords) = unsafe bucket.parts
        for place in unsafe 0...header.pointee.mask where unsafe words[place] != 0 {
            unsafe Self.put(words[place], into: newHeader, newWords, depth)
        }
        return bucket
    }

    @usableFromInline
    static func remove(_ word: UInt64, from node: inout IndexNode, depth: Int) {
        if !isKnownUniquelyReferenced(&node) { node = node.copy() }
        let (header, words) = unsafe node.parts
        if unsafe header.pointee.isBranch {
            let child = home(word, depth, TrieShape.mask)
            return unsafe remove(word, from: &children(words)[child], depth: depth + 1)
        }
        let mask = unsafe header.pointee.mask
        var hole = home(word, depth, mask)
        while unsafe words[hole] != word {
            unsafe precondition(words[hole] != 0, "the key index does not hold the ordinal \(IndexWord.ordinal(word))")
            hole = (hole + 1) & mask
        }
        unsafe closeHole(hole, words, mask, depth)
        unsafe header.pointee.count -= 1
        if mask > 7, unsafe header.pointee.count * 8 < mask { node = node.rehashed((mask + 1) / 2, depth) }
    }

    /// Moves up the words after a gap that otherwise could no longer be found from their home.
    private static func closeHole(_ hole: Int, _ words: UnsafeMutablePointer<UInt64>, _ mask: Int, _ depth: Int) {
        var hole = hole
        var place = (hole + 1) & mask
        while unsafe words[place] != 0 {
            let distance = unsafe (place - home(words[place], depth, mask)) & mask
            if distance >= (place - hole) & mask {
                unsafe words[hole] = unsafe words[place]
                hole = place
            }
            place = (place + 1) & mask
        }
        unsafe words[hole] = 0
    }
}

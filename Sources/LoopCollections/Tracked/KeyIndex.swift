// Unsafe: the root keeps every node of the path while its words are read.

/// Finds the keys of a `TrackedDictionary`. It is a persistent hash trie (Bagwell 2001) from a key's hash to the ordinal of its
/// entry. It has no keys: the caller compares the key of the entry.
///
///     branch ── 4 bits of the hash ──▶ branch ── 4 bits ──▶ bucket: a flat open-addressed table of words
///
/// Buckets are large and have no references, so that copying one only copies memory. Branches are small, because copying one
/// retains its children. A copy of the index shares all nodes. A change copies the nodes on its path that others also own.
@usableFromInline
struct KeyIndex {
    @usableFromInline var root: IndexNode?

    @inlinable
    init() {}

    /// The ordinal, among those with this hash, for which `isMatch` holds.
    @inlinable
    func find(_ hash: UInt64, where isMatch: (Int) -> Bool) -> Int? {
        guard let root else { return nil }
        return withExtendedLifetime(root) {
            var (header, words) = unsafe root.parts
            var bits = hash
            while unsafe header.pointee.isBranch {
                unsafe (header, words) = unsafe IndexNode.parts(
                    words, child: Int(truncatingIfNeeded: bits & UInt64(TrieShape.mask)))
                bits >>= UInt64(TrieShape.bits)
            }
            let mask = unsafe header.pointee.mask
            var place = Int(truncatingIfNeeded: bits) & mask
            while unsafe words[place] != 0 {
                let word = unsafe words[place]
                if word & IndexWord.hashMask == hash, isMatch(IndexWord.ordinal(word)) {
                    return IndexWord.ordinal(word)
                }
                place = (place + 1) & mask
            }
            return nil
        }
    }

    /// Adds the ordinal of a new key.
    @inlinable
    mutating func insert(_ hash: UInt64, ordinal: Int) {
        // Taken out during the change, because a node with two owners would be copied.
        var node = root.take() ?? .bucket(capacity: 8)
        IndexNode.insert(IndexWord.word(hash, ordinal), into: &node, depth: 0)
        root = node
    }

    /// Removes the ordinal of an existing key.
    @inlinable
    mutating func remove(_ hash: UInt64, ordinal: Int) {
        guard var node = root.take() else { return }
        IndexNode.remove(IndexWord.word(hash, ordinal), from: &node, depth: 0)
        root = node
    }
}

/// A word in a bucket for one key: 24 bits of its hash and 40 bits for its ordinal plus one. It is never 0.
@usableFromInline
enum IndexWord {
    @usableFromInline static let hashBits: UInt64 = 24
    @inlinable static var hashMask: UInt64 { 0xFF_FFFF }
    /// The limit of ordinals, which are below it.
    @inlinable static var ordinalLimit: Int { 1 << 40 - 1 }

    @inlinable
    static func hash<Key: Hashable>(_ key: Key) -> UInt64 {
        // The low bits of a Hasher's result are as good as any others.
        UInt64(truncatingIfNeeded: key.hashValue) & hashMask
    }

    @inlinable
    static func word(_ hash: UInt64, _ ordinal: Int) -> UInt64 { hash | UInt64(truncatingIfNeeded: ordinal + 1) << 24 }

    @inlinable
    static func ordinal(_ word: UInt64) -> Int { Int(truncatingIfNeeded: word >> 24) - 1 }
}

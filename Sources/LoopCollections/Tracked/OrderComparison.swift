// Unsafe: both trees are retained during the comparison.

extension OrderTree {
    /// Whether another tree has the same ordinals, with the same entries. Nodes that both share are not visited.
    /// - Parameter isSame: whether two entries of one ordinal are the same. Entries with equal bits are, without asking.
    @inlinable
    func matches(_ other: OrderTree, by isSame: (Entry, Entry) -> Bool) -> Bool {
        if height < other.height { return other.matches(self, by: isSame) }
        guard let root, let otherRoot = other.root else { return count == other.count }
        return withExtendedLifetime((root, otherRoot)) {
            unsafe OrderComparison(layout: LeafLayout(Key.self, Value.self)).areSame(
                Unmanaged.passUnretained(root), height, Unmanaged.passUnretained(otherRoot), other.height
            ) {
                unsafe isSame(
                    $0.assumingMemoryBound(to: Entry.self).pointee, $1.assumingMemoryBound(to: Entry.self).pointee)
            }
        }
    }
}

/// A comparison of two order trees of one type.
@usableFromInline
struct OrderComparison {
    /// Whether two entries of one ordinal are the same.
    @usableFromInline typealias IsSame = (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Bool
    /// A node that its tree retains, because a comparison counts no references.
    @usableFromInline typealias Node = Unmanaged<AnyObject>

    @usableFromInline let layout: LeafLayout

    @inlinable
    init(layout: LeafLayout) { self.layout = layout }

    /// - Parameter height: the number of levels below `a`, which are at least as many as below `b`.
    @usableFromInline
    func areSame(_ a: Node, _ height: Int, _ b: Node, _ otherHeight: Int, _ isSame: IsSame) -> Bool {
        if unsafe a.toOpaque() == b.toOpaque() { return true }
        if height == 0 { return unsafe areSameLeaves(a, b, isSame) }
        let (count, children) = unsafe branch(a)
        if height > otherHeight {
            // Entries that made the tree higher were removed. The others are below its first child.
            guard unsafe count.pointee == 1, let first = unsafe children[0] else { return false }
            return unsafe areSame(Unmanaged.passUnretained(first), height - 1, b, otherHeight, isSame)
        }
        let others = unsafe branch(b).children
        for child in 0..<TrieShape.width {
            switch unsafe (children[child], others[child]) {
            case (nil, nil): continue
            case (let x?, let y?):
                let (x, y) = unsafe (Unmanaged.passUnretained(x), Unmanaged.passUnretained(y))
                guard unsafe areSame(x, height - 1, y, height - 1, isSame) else { return false }
            case (_?, nil), (nil, _?): return false
            }
        }
        return true
    }

    private func branch(_ node: Node) -> (count: UnsafeMutablePointer<Int>, children: UnsafeMutablePointer<AnyObject?>)
    {
        unsafe node._withUnsafeGuaranteedRef { unsafe unsafeDowncast($0, to: OrderBranch.self).parts }
    }

    private func areSameLeaves(_ a: Node, _ b: Node, _ isSame: IsSame) -> Bool {
        let (header, entries) = unsafe layout.parts(of: a)
        let (otherHeader, otherEntries) = unsafe layout.parts(of: b)
        guard unsafe header.pointee.bitmap == otherHeader.pointee.bitmap else { return false }
        for rank in unsafe 0..<header.pointee.count {
            let (x, y) = unsafe (entries + rank * layout.stride, otherEntries + rank * layout.stride)
            guard unsafe areSameBits(x, y) || isSame(x, y) else { return false }
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

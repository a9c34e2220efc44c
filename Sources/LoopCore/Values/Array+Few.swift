extension Array {
    /// Removes the few elements there are, and keeps their room: `removeAll(keepingCapacity:)` takes some eighty
    /// instructions, however few they are.
    @inlinable @inline(__always)
    package mutating func removeFew() { while !isEmpty { removeLast() } }
}

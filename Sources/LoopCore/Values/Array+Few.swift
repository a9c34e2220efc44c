extension Array {
    /// Removes the few elements of a small array, and keeps its capacity, because `removeAll(keepingCapacity:)` takes some
    /// eighty instructions even for few.
    @inlinable @inline(__always)
    package mutating func removeFew() { while !isEmpty { removeLast() } }
}

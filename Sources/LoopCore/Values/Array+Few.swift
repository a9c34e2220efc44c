extension Array {
    /// Removes the few elements there are, and keeps their room: `removeAll(keepingCapacity:)` takes eighty instructions to
    /// remove none.
    @inlinable @inline(__always)
    package mutating func removeFew() { while !isEmpty { removeLast() } }
}

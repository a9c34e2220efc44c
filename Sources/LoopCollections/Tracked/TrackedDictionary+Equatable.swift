extension TrackedDictionary: Equatable where Value: Equatable {
    /// Whether both have equal entries in the same order. If they share structure, the cost is in proportion to the differences.
    @inlinable
    public static func == (a: TrackedDictionary, b: TrackedDictionary) -> Bool {
        if a.count != b.count { return false }
        var isDifferent = false
        let isAligned = a.order.matches(b.order) { x, y in
            guard x.key == y.key else { return false }
            // The key has this ordinal in both.
            isDifferent = x.value != y.value
            return !isDifferent
        }
        if isAligned || isDifferent { return !isDifferent }
        return a.elementsEqual(b) { $0.key == $1.key && $0.value == $1.value }
    }
}

extension TrackedDictionary: Hashable where Value: Hashable {
    /// Hashes the count, and the keys and values in order of insertion, as `==` compares them. Visits all entries.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for (key, value) in self {
            hasher.combine(key)
            hasher.combine(value)
        }
    }
}

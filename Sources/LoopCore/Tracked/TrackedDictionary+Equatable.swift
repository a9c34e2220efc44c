extension TrackedDictionary: Equatable where Value: Equatable {
    /// Whether both have the same entries in the same order. Costs what is different in structure: nothing for copies.
    @inlinable
    public static func == (a: TrackedDictionary, b: TrackedDictionary) -> Bool {
        if a.order.root === b.order.root { return true }
        return a.count == b.count && a.elementsEqual(b) { $0.key == $1.key && $0.value == $1.value }
    }
}

extension TrackedDictionary: Hashable where Value: Hashable {
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for (key, value) in self {
            hasher.combine(key)
            hasher.combine(value)
        }
    }
}

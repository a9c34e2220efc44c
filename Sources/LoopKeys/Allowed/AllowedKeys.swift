/// The keys that a reducer admits at one moment.
package struct AllowedKeys: Hashable, Sendable {
    /// Each key with what its owner may do.
    package let keys: [PublicKey: AllowedKey]

    /// No key.
    package static let none = AllowedKeys([])

    /// Creates a list of these keys. Of several entries for one key, the last counts.
    package init(_ keys: some Sequence<AllowedKey>) {
        self.keys = Dictionary(keys.map { ($0.publicKey, $0) }) { $1 }
    }

    /// What the owner of a key may do, or nil if the key is not admitted.
    package subscript(key: PublicKey) -> AllowedKey? { keys[key] }

    /// The changes since an earlier time.
    package func changes(since earlier: AllowedKeys) -> KeyChanges {
        KeyChanges(
            added: Self.sorted(keys.values.filter { earlier[$0.publicKey] == nil }),
            removed: Self.sorted(earlier.keys.values.filter { self[$0.publicKey] == nil }),
            changed: Self.sorted(
                keys.values.filter { key in earlier[key.publicKey].map { !$0.allowsTheSame(as: key) } ?? false }))
    }

    private static func sorted(_ keys: [AllowedKey]) -> [AllowedKey] {
        keys.sorted { ($0.name, $0.publicKey.z85) < ($1.name, $1.publicKey.z85) }
    }
}

/// How the keys that a reducer admits have changed. A key with a renamed file and no other change is in no list.
package struct KeyChanges: Hashable, Sendable {
    /// Keys that are admitted from now on, sorted by name.
    package let added: [AllowedKey]
    /// Keys that are no longer admitted, as they were, sorted by name.
    package let removed: [AllowedKey]
    /// Keys with other roles, groups or another name, as they are now, sorted by name.
    package let changed: [AllowedKey]

    /// Whether there are no changes.
    package var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty }
}

/// The keys that a reducer admits at one moment.
public struct AllowedKeys: Hashable, Sendable {
    /// Each key with what its owner may do.
    public let keys: [PublicKey: AllowedKey]

    /// No key at all.
    public static let none = AllowedKeys([])

    /// These keys. Of several about one key the last counts.
    public init(_ keys: some Sequence<AllowedKey>) {
        self.keys = Dictionary(keys.map { ($0.publicKey, $0) }) { $1 }
    }

    /// What the owner of a key may do; nil if the key is not admitted.
    public subscript(key: PublicKey) -> AllowedKey? { keys[key] }

    /// What is different from an earlier moment.
    public func changes(since earlier: AllowedKeys) -> KeyChanges {
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

/// How the keys that a reducer admits have changed. Keys whose file got another name only are in no list.
public struct KeyChanges: Hashable, Sendable {
    /// Keys that are admitted from now on, by their names.
    public let added: [AllowedKey]
    /// Keys that are not admitted any more, as they were, by their names.
    public let removed: [AllowedKey]
    /// Keys whose owner may do something else now, or has another name; as they are now, by their names.
    public let changed: [AllowedKey]

    /// Whether nothing is different.
    public var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty }
}

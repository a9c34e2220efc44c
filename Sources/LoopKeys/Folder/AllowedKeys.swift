/// The keys that a reducer admits, as its folder has them at one moment.
public struct AllowedKeys: Hashable, Sendable {
    /// Each key with what its owner may do.
    public let keys: [PublicKey: AllowedKey]
    /// The files that were refused, for the log, in the order of their names. The keys in them are not admitted.
    public let refused: [KeyFileError]

    /// No key at all.
    public static let none = AllowedKeys(keys: [:], refused: [])

    private init(keys: [PublicKey: AllowedKey], refused: [KeyFileError]) {
        self.keys = keys
        self.refused = refused
    }

    /// Nothing is admitted, for this reason.
    init(refusing error: KeyFileError) { self.init(keys: [:], refused: [error]) }

    /// Puts together what the files of a folder say. One key in several files is refused, unless all say the same about it.
    /// - Parameter files: in any order.
    init(_ files: [(path: String, certificate: Result<Certificate, KeyFileError>)]) {
        var keys: [PublicKey: AllowedKey] = [:]
        var contested: Set<PublicKey> = []
        var refused: [KeyFileError] = []
        for (path, certificate) in files.sorted(by: { $0.path < $1.path }) {
            do throws(KeyFileError) {
                let key = try AllowedKey(try certificate.get(), file: path)
                if let other = keys[key.publicKey] {
                    if other.allowsTheSame(as: key) { continue }
                    contested.insert(key.publicKey)
                    throw KeyFileError(path, .sameKey(as: other.file))
                }
                keys[key.publicKey] = key
            } catch {
                refused.append(error)
            }
        }
        self.init(keys: keys.filter { !contested.contains($0.key) }, refused: refused)
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

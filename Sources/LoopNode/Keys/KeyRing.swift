import Linux
import LoopKeys
import LoopCollections
import ZMQ

/// The keys in a reducer's folder at present: its own, and those that it admits. Any thread may use it.
final class KeyRing: Sendable {
    /// How the folder has changed.
    struct Change: Sendable {
        let keys: KeyChanges
        /// The admitted keys, for the machine.
        let allowed: AllowedKeys
        /// The reducer's own pairs, if they have changed.
        let servers: [ServerKey]?
        /// Lines for the log.
        let notes: [String]
    }

    private struct Contents {
        var servers: [ServerKey]
        var files: AllowedKeyFiles
        var stamp: KeyFolderStamp
    }

    private let folder: KeyFolder
    private let contents: Locked<Contents>

    /// Reads the folder.
    /// - Throws: `NodeError.keys` if the reducer's own keys cannot be used.
    init(_ folder: KeyFolder) throws(NodeError) {
        self.folder = folder
        do throws(KeyFileError) {
            // Take the stamp first, so that a change during the reading is read again.
            let stamp = folder.stamp()
            contents = Locked(
                Contents(servers: try folder.serverKeys(), files: try folder.allowedKeys(), stamp: stamp))
        } catch {
            throw .keys("\(error)")
        }
    }

    /// The keys that are admitted at present.
    var allowed: AllowedKeys { contents.withLock { $0.files.keys } }

    /// The reducer's own pairs, at least one.
    var servers: [ServerKey] { contents.withLock { $0.servers } }

    /// Lines for the log: the files that are refused, or that no key is admitted.
    var notes: [String] { contents.withLock { Self.notes(of: $0.files, folder) } }

    /// Whether the owner of a key may connect. libzmq calls it for each connection.
    func verdict(on request: ZAPRequest) -> ZAPVerdict {
        guard contents.withLock({ $0.files.keys[request.key] != nil }) else { return .refuse }
        return .admit(properties: [Door.property: Door(domain: request.domain).text])
    }

    /// Reads the folder again if its stamp has changed.
    /// - Returns: what has changed, or nil if nothing has or the folder cannot be read now.
    func refresh() -> Change? {
        let stamp = folder.stamp()
        let before = contents.withLock { $0 }
        // A lack of descriptors is no reason to revoke keys; the next call tries again.
        guard stamp != before.stamp, let files = try? folder.allowedKeys() else { return nil }
        let servers = try? folder.serverKeys()
        let isOther = servers.map { Self.publicKeys($0) != Self.publicKeys(before.servers) } ?? false
        contents.withLock { contents in
            contents.files = files
            contents.stamp = stamp
            if let servers { contents.servers = servers }
        }
        let changes = files.keys.changes(since: before.files.keys)
        guard isOther || files != before.files else { return nil }
        return Change(
            keys: changes, allowed: files.keys, servers: isOther ? servers : nil,
            notes: Self.lines(of: changes) + (files == before.files ? [] : Self.notes(of: files, folder)))
    }

    private static func publicKeys(_ servers: [ServerKey]) -> [PublicKey] {
        servers.map(\.certificate.publicKey)
    }

    private static func lines(of changes: KeyChanges) -> [String] {
        changes.added.map { "the key \($0.text), is admitted" }
            + changes.removed.map { "the key \($0.text), is not admitted any more" }
            + changes.changed.map { "the key \($0.text), has changed" }
    }

    private static func notes(of files: AllowedKeyFiles, _ folder: KeyFolder) -> [String] {
        let refused = files.refused.map { "a key is not admitted: \($0)" }
        guard files.keys == .none, refused.isEmpty else { return refused }
        return ["no key is admitted; make one: loopctl keygen \(folder.path.shellWord) NAME --role ROLE"]
    }
}

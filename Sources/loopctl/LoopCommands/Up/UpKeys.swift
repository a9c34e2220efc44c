import LoopKeys
import LoopNode

/// The keys of a loop that `up` runs: the reducer's, and one that the workers share and `up` uses to ask for the status.
struct UpKeys: Equatable {
    /// The name of the workers' key in the folder.
    private static let name = "up"

    /// The reducer's folder.
    let folder: String
    /// The file of the workers' key.
    let workersPath: String
    /// The file of the reducer's public key.
    let reducersPath: String
    /// The keys in both files.
    let peer: PeerKeys

    init(folder: String, workersPath: String, reducersPath: String, peer: PeerKeys) {
        self.folder = folder
        self.workersPath = workersPath
        self.reducersPath = reducersPath
        self.peer = peer
    }

    /// Makes the missing keys in the folder, as `loopctl keygen --keep` does.
    /// - Throws: `KeyFileError` or `NodeError.keys` if the folder cannot be used.
    init(keepingIn folder: String) throws {
        _ = try Self.keep("main", .reducer, in: folder, own: nil)
        let issued = try Self.keep(Self.name, .worker, in: folder, own: folder)
        // The worker's folder is the reducer's, so it has the reducer's public key itself instead of a copy.
        let reducersPath = issued.reducersPath ?? "\(folder)/server.key"
        self.init(
            folder: folder, workersPath: issued.secretPath, reducersPath: reducersPath,
            peer: try PeerKeys(reading: issued.secretPath, reducer: reducersPath))
    }

    private static func keep(_ name: String, _ role: Role, in folder: String, own: String?) throws -> IssuedKey {
        guard let name = KeyName(name) else { throw CommandError("'\(name)' is no name of a key") }
        return try KeyFolder(folder).issue(
            NewKey(name: name, roles: [role], folder: own), created: SystemClock.wall.text, present: .keep,
            generate: KeygenCommand.generate)
    }
}

package import LoopKeys

/// The keys that a reducer admits, by the files of its folder at one time.
package struct AllowedKeyFiles: Hashable, Sendable {
    /// The keys of the valid files.
    package let keys: AllowedKeys
    /// The refused files, for the log, in the order of their names. Their keys are not admitted.
    package let refused: [KeyFileError]

    /// Admits nothing, for this reason.
    init(refusing error: KeyFileError) {
        keys = .none
        refused = [error]
    }

    /// Joins the files of a folder. If several files have one key, they are refused unless all allow it the same.
    /// - Parameter files: the files in any order.
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
        self.keys = AllowedKeys(keys.values.filter { !contested.contains($0.publicKey) })
        self.refused = refused
    }
}

extension AllowedKey {
    /// - Throws: why a reducer cannot admit the key.
    init(_ certificate: Certificate, file: String) throws(KeyFileError) {
        let roles = certificate.roles
        if roles.isEmpty { throw KeyFileError(file, .noRole) }
        if roles.contains(.reducer) { throw KeyFileError(file, .reducers) }
        if roles.contains(.worker), certificate.groups == .none { throw KeyFileError(file, .noGroup) }
        self.init(
            certificate.publicKey, name: certificate.name ?? KeyFolder.name(ofFile: file), roles: roles,
            groups: certificate.groups, file: file)
    }
}

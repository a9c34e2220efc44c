package import LoopKeys

/// A key pair to be made: its owner, what it allows, and the paths of its files.
package struct NewKey: Hashable, Sendable {
    /// The name of the owner.
    package let name: KeyName
    /// The roles of the owner.
    package let roles: Set<Role>
    /// The groups that its owner may serve, or none unless it is a worker.
    package let groups: WorkerGroups
    /// The folder of a peer, for its secret file and a copy of the reducer's public key. If it is nil, the secret file is next to
    /// the reducer's.
    package let folder: String?

    /// - Parameters:
    ///   - name: the name of the owner.
    ///   - roles: the roles of the owner.
    ///   - groups: the groups of a worker; empty, or `*` alone, for all.
    ///   - folder: the peer's own folder.
    /// - Throws: ``Refusal`` if name, roles, groups and folder contradict each other.
    package init(
        name: KeyName, roles: Set<Role>, groups: [String] = [], folder: String? = nil
    ) throws(Refusal) {
        guard !roles.isEmpty else { throw .noRole }
        guard !roles.contains(.reducer) || roles.count == 1 else { throw .reducerAndOthers }
        guard roles.contains(.reducer) || ServerKeyName(name.text) == nil else { throw .reducersName(name) }
        guard groups.isEmpty || roles.contains(.worker) else { throw .groupsOfNoWorker }
        guard folder == nil || !roles.contains(.reducer) else { throw .folderOfReducer }
        self.name = name
        self.roles = roles
        self.folder = folder
        if !roles.contains(.worker) {
            self.groups = .none
        } else if groups.isEmpty || groups == ["*"] {
            self.groups = .all
        } else {
            self.groups = .named(Set(groups))
        }
        do throws(CertificateError.Flaw) {
            try Certificate.check(self.groups)
        } catch {
            throw .groups(error)
        }
    }

    /// Whether the pair is the reducer's own.
    package var isReducers: Bool { roles.contains(.reducer) }

    /// Whether both files stay in their folders. Without a folder of its own, a peer's secret file moves to another machine.
    var staysTogether: Bool { isReducers || folder != nil }

    /// The path of the file for the owner alone, below the peer's folder or the reducer's.
    package var secretFile: String { base + KeyFolder.secretEnd }

    /// The path of the file for others, below the reducer's folder.
    package var publicFile: String { (isReducers ? "" : "allowed/") + base + KeyFolder.publicEnd }

    private var base: String { isReducers ? (ServerKeyName(name.text) ?? .first).text : name.text }

    func certificate(of key: PublicKey, created: String?) throws(CertificateError) -> Certificate {
        try Certificate(name: name.text, roles: roles, groups: groups, created: created, publicKey: key)
    }

    /// The reason why such a key cannot be made.
    package enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// There is no role.
        case noRole
        /// A reducer's key has other roles too.
        case reducerAndOthers
        /// The name is that of a reducer's own key.
        case reducersName(KeyName)
        /// There are groups, but no role of a worker.
        case groupsOfNoWorker
        /// A reducer's key must stay in its folder.
        case folderOfReducer
        /// A certificate cannot express the groups.
        case groups(CertificateError.Flaw)

        /// One line: what is wrong, and what to do.
        package var description: String {
            switch self {
            case .noRole: "the key has no role; name one: \(Role.allCases.map(\.rawValue).joined(separator: ", "))"
            case .reducerAndOthers: "the key of a reducer has no other role; make a key of its own for each"
            case .reducersName(let name): "'\(name)' is the name of a reducer's key; choose another"
            case .groupsOfNoWorker: "only a worker has groups; name them for the role worker, or leave them out"
            case .folderOfReducer: "the key of a reducer stays in its folder; only a peer's goes to another"
            case .groups(let flaw): "\(CertificateError(flaw))"
            }
        }
    }
}

/// A pair that was made or kept, and the paths of its files.
package struct IssuedKey: Sendable {
    /// The key that was requested.
    package let key: NewKey
    /// The public half, with what its owner may do. A kept pair may allow something else than was requested.
    package let certificate: Certificate
    /// The path of the file for the owner alone.
    package let secretPath: String
    /// The path of the file for others.
    package let publicPath: String
    /// The path of the copy of the reducer's public key in the folder of a peer.
    package let reducersPath: String?
    /// Whether the pair existed already.
    package let isKept: Bool

    init(key: NewKey, certificate: Certificate, files: PairFiles, reducersPath: String?, isKept: Bool) {
        self.key = key
        self.certificate = certificate
        secretPath = files.secret
        publicPath = files.public
        self.reducersPath = reducersPath
        self.isKept = isKept
    }
}

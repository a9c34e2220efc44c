public import LoopKeys

/// A key pair that is to be made: whose it is, what it allows, and where its files go.
public struct NewKey: Hashable, Sendable {
    /// Whose it is.
    public let name: KeyName
    /// What it allows.
    public let roles: Set<Role>
    /// The groups that its owner may serve; none unless it is a worker.
    public let groups: WorkerGroups
    /// The folder of a peer's own, for its secret file and a copy of the reducer's public key; nil: the secret file is next to
    /// the reducer's.
    public let folder: String?

    /// - Parameters:
    ///   - name: whose it is.
    ///   - roles: what it allows.
    ///   - groups: the groups of a worker; empty, or `*` alone, for all.
    ///   - folder: a folder of a peer's own.
    /// - Throws: ``Refusal`` if name, roles, groups and folder do not fit each other.
    public init(
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

    /// Whether it is the reducer's own.
    public var isReducers: Bool { roles.contains(.reducer) }

    /// Whether both files have a place of their own. Without a folder, a peer's secret file moves to another machine.
    var staysTogether: Bool { isReducers || folder != nil }

    /// For the key's owner alone, below the peer's folder or the reducer's.
    public var secretFile: String { base + KeyFolder.secretEnd }

    /// For others, below the reducer's folder.
    public var publicFile: String { (isReducers ? "" : "allowed/") + base + KeyFolder.publicEnd }

    private var base: String { isReducers ? (ServerKeyName(name.text) ?? .first).text : name.text }

    func certificate(of key: PublicKey, created: String?) throws(CertificateError) -> Certificate {
        try Certificate(name: name.text, roles: roles, groups: groups, created: created, publicKey: key)
    }

    /// Why there can be no such key.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// No role is named.
        case noRole
        /// A reducer's key is for nothing else.
        case reducerAndOthers
        /// The name is that of a reducer's own key.
        case reducersName(KeyName)
        /// Groups are named, and no worker.
        case groupsOfNoWorker
        /// A reducer's key stays in its folder.
        case folderOfReducer
        /// A certificate cannot hold the groups.
        case groups(CertificateError.Flaw)

        /// One line: what is wrong, and what to do.
        public var description: String {
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

/// A pair that was made or kept, and where its files are.
public struct IssuedKey: Sendable {
    /// What it was asked for.
    public let key: NewKey
    /// The public half, with what its owner may do. A pair that was kept may allow something else than was asked for.
    public let certificate: Certificate
    /// The file for its owner alone.
    public let secretPath: String
    /// The file for others.
    public let publicPath: String
    /// The copy of the reducer's public key in the folder of a peer.
    public let reducersPath: String?
    /// Whether the pair was there already.
    public let isKept: Bool

    init(key: NewKey, certificate: Certificate, files: PairFiles, reducersPath: String?, isKept: Bool) {
        self.key = key
        self.certificate = certificate
        secretPath = files.secret
        publicPath = files.public
        self.reducersPath = reducersPath
        self.isKept = isKept
    }
}

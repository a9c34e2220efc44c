public import LoopKeys

/// A key pair that is to be made: whose it is, what it allows, and where its files go.
public struct NewKey: Hashable, Sendable {
    /// Whose it is.
    public let name: KeyName
    /// What it allows.
    public let roles: Set<Role>
    /// The groups that its owner may serve; none unless it is a worker.
    public let groups: WorkerGroups

    /// - Parameters:
    ///   - name: whose it is.
    ///   - roles: what it allows.
    ///   - groups: the groups of a worker; empty, or `*` alone, for all.
    /// - Throws: ``Refusal`` if name, roles and groups do not fit each other.
    public init(name: KeyName, roles: Set<Role>, groups: [String] = []) throws(Refusal) {
        guard !roles.isEmpty else { throw .noRole }
        guard !roles.contains(.reducer) || roles.count == 1 else { throw .reducerAndOthers }
        guard roles.contains(.reducer) || ServerKeyName(name.text) == nil else { throw .reducersName(name) }
        guard groups.isEmpty || roles.contains(.worker) else { throw .groupsOfNoWorker }
        self.name = name
        self.roles = roles
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

    /// For the key's owner alone, below the folder.
    public var secretFile: String { base + KeyFolder.secretEnd }

    /// For others, below the folder.
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
        /// A certificate cannot hold the groups.
        case groups(CertificateError.Flaw)

        /// One line: what is wrong, and what to do.
        public var description: String {
            switch self {
            case .noRole: "the key has no role; name one"
            case .reducerAndOthers: "the key of a reducer has no other role; make a key of its own for each"
            case .reducersName(let name): "'\(name)' is the name of a reducer's key; choose another"
            case .groupsOfNoWorker: "only a worker has groups; name them for the role worker, or leave them out"
            case .groups(let flaw): "\(CertificateError(flaw))"
            }
        }
    }
}

/// A pair that was made, and where its files are.
public struct IssuedKey: Sendable {
    /// What it was made for.
    public let key: NewKey
    /// The public half, with what its owner may do.
    public let certificate: Certificate
    /// The file for its owner alone.
    public let secretPath: String
    /// The file for others.
    public let publicPath: String
}

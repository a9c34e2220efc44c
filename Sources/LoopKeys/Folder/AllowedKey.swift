/// A key that a reducer admits, and what its owner may do.
public struct AllowedKey: Hashable, Sendable {
    /// The key.
    public let publicKey: PublicKey
    /// Who has it, for people: as the certificate says, else as the file is called.
    public let name: String
    /// What its owner is to the loop; never empty, and never a reducer.
    public let roles: Set<Role>
    /// The groups that its owner may serve; none unless it is a worker.
    public let groups: WorkerGroups
    /// The file that it came from.
    public let file: String

    /// - Throws: why a reducer cannot admit the key.
    init(_ certificate: Certificate, file: String) throws(KeyFileError) {
        let roles = certificate.roles
        if roles.isEmpty { throw KeyFileError(file, .noRole) }
        if roles.contains(.reducer) { throw KeyFileError(file, .reducers) }
        if roles.contains(.worker), certificate.groups == .none { throw KeyFileError(file, .noGroup) }
        publicKey = certificate.publicKey
        name = certificate.name ?? KeyFolder.name(ofFile: file)
        self.roles = roles
        groups = roles.contains(.worker) ? certificate.groups : .none
        self.file = file
    }

    /// Whether one of its roles allows something.
    public func allows(_ verb: Verb) -> Bool { roles.contains { $0.allows(verb) } }

    /// Whether its owner may run effects of a group.
    public func mayServe(group: String) -> Bool { allows(.runEffects) && groups.contains(group) }

    /// Whether another file says the same about the key.
    func allowsTheSame(as other: AllowedKey) -> Bool {
        publicKey == other.publicKey && name == other.name && roles == other.roles && groups == other.groups
    }
}

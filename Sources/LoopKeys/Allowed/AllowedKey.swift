/// A key that a reducer admits, and what its owner may do.
package struct AllowedKey: Hashable, Sendable {
    /// The key.
    package let publicKey: PublicKey
    /// The name of its owner, for people.
    package let name: String
    /// The roles of its owner in the loop.
    package let roles: Set<Role>
    /// The groups that its owner may serve, or none unless it is a worker.
    package let groups: WorkerGroups
    /// The file that it was read from, or an empty text.
    package let file: String

    /// Creates an allowed key. Groups count for workers only.
    package init(
        _ publicKey: PublicKey, name: String, roles: Set<Role>, groups: WorkerGroups = .none, file: String = ""
    ) {
        self.publicKey = publicKey
        self.name = name
        self.roles = roles
        self.groups = roles.contains(.worker) ? groups : .none
        self.file = file
    }

    /// Whether one of its roles allows something.
    package func allows(_ verb: Verb) -> Bool { roles.contains { $0.allows(verb) } }

    /// Whether its owner may run effects of a group.
    package func mayServe(group: String) -> Bool { allows(.runEffects) && groups.contains(group) }

    /// The name and the roles for people: `"w1", which is worker and sender`.
    package var text: String {
        let names = Role.allCases.filter(roles.contains).map(\.rawValue)
        return "\"\(name)\", which is \(names.isEmpty ? "nothing" : names.joined(separator: " and "))"
    }

    /// Whether another entry allows the key exactly the same, under the same name.
    package func allowsTheSame(as other: AllowedKey) -> Bool {
        publicKey == other.publicKey && name == other.name && roles == other.roles && groups == other.groups
    }
}

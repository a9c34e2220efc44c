/// The groups of the effects that the owner of a key may run, if it is a worker.
package enum WorkerGroups: Hashable, Sendable {
    /// Every group. It is `*` in a certificate.
    case all
    /// These groups, which may be none.
    case named(Set<String>)

    /// No group.
    package static var none: WorkerGroups { .named([]) }

    /// Whether a group is among them.
    package func contains(_ group: String) -> Bool {
        switch self {
        case .all: true
        case .named(let names): names.contains(group)
        }
    }
}

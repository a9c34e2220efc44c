/// The groups of the effects that the owner of a key may run, if it is a worker.
public enum WorkerGroups: Hashable, Sendable {
    /// Every group. It is `*` in a certificate.
    case all
    /// These groups, which may be none.
    case named(Set<String>)

    /// No group.
    public static var none: WorkerGroups { .named([]) }

    /// Whether a group is among them.
    public func contains(_ group: String) -> Bool {
        switch self {
        case .all: true
        case .named(let names): names.contains(group)
        }
    }
}

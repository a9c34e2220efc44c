import LoopCluster
import LoopCore
import LoopKeys

/// The folder of keys of a simulated reducer: who has which key, and what the reducer was told.
///
/// A process has the key of its place, and so has the one that takes its place. Hostile processes have keys of their own.
struct SimulatedKeys {
    /// Where processes are that have a key. The number is the first key's.
    enum Place: UInt8 {
        case worker = 1
        case client = 64
        case observer = 96
    }

    /// The roles and groups of each key before any change.
    private let usual: [AllowedKey]
    /// What is in the folder now.
    private(set) var allowed: AllowedKeys
    /// What the reducer was told last.
    private(set) var told = AllowedKeys.none
    /// Whether the reducer has to be told.
    private(set) var isNew = true

    /// - Parameter groups: those of the loop's effects.
    init(workers: Int, clients: Int, observers: Int, groups: [String]) {
        func keys(of count: Int, _ role: Role, at place: Place) -> [AllowedKey] {
            (0..<count).map { slot in
                AllowedKey(
                    Self.key(place, slot), name: "\(place) \(slot)", roles: [role],
                    groups: slot == 0 ? .all : .named(Set(groups)))
            }
        }
        usual =
            keys(of: workers, .worker, at: .worker) + keys(of: clients, .sender, at: .client)
            + keys(of: observers, .observer, at: .observer) + Hostile.allCases.compactMap(\.allowed)
        let operators = AllowedKey(Self.operators, name: "operator", roles: [.admin])
        allowed = AllowedKeys(usual + [operators])
    }

    /// The key with which operators ask. It is never changed.
    static let operators = key(120)

    /// The key of a place.
    static func key(_ place: Place, _ slot: Int) -> PublicKey { key(place.rawValue + UInt8(slot)) }

    /// The key whose bytes all have this number.
    static func key(_ number: UInt8) -> PublicKey {
        guard let key = PublicKey(bytes: [UInt8](repeating: number, count: 32)) else {
            preconditionFailure("\(number) is no key")
        }
        return key
    }

    /// Whether a connection with this key stands.
    func admits(_ key: PublicKey) -> Bool { told[key] != nil }

    // MARK: The folder

    /// An operator removes a key, or changes what it is for; more often, one that was changed is put back.
    /// - Returns: what has happened, for people.
    mutating func change(_ dice: inout SeededRandom) -> String {
        if let key = changed.randomElement(using: &dice), dice.fraction() < 0.6 {
            set(key.publicKey, key)
            return "the key \(key.text), is as before"
        }
        guard let key = usual.randomElement(using: &dice) else { return "there are no keys" }
        // Hostile processes have their key or none: they do nothing with a role that another process has.
        let isHonest = !Hostile.allCases.contains { $0.key == key.publicKey }
        let entry = isHonest ? otherEntry(for: key, &dice) : nil
        set(key.publicKey, entry)
        return "the key \(key.text), is now \(entry?.text ?? "not admitted")"
    }

    private func otherEntry(for key: AllowedKey, _ dice: inout SeededRandom) -> AllowedKey? {
        let foreign = WorkerGroups.named([Hostile.group])
        let entries: [(roles: Set<Role>, groups: WorkerGroups)?] = [
            nil, nil, ([.observer], .none), ([.sender], .none), ([.admin], .none), ([.worker], foreign),
            (key.roles, foreign),
        ]
        return (entries.randomElement(using: &dice) ?? nil).map {
            AllowedKey(key.publicKey, name: key.name, roles: $0.roles, groups: $0.groups)
        }
    }

    /// Every key is as usual again.
    mutating func restore() { for key in changed { set(key.publicKey, key) } }

    private var changed: [AllowedKey] { usual.filter { allowed[$0.publicKey] != $0 } }

    /// - Parameter entry: what is in the folder for the key from now on; nil: nothing.
    private mutating func set(_ key: PublicKey, _ entry: AllowedKey?) {
        allowed = AllowedKeys(allowed.keys.values.filter { $0.publicKey != key } + (entry.map { [$0] } ?? []))
        isNew = true
    }

    // MARK: The reducer

    /// Another process begins, and reads the whole folder.
    mutating func begin() { isNew = true }

    /// The reducer reads the folder.
    /// - Returns: the keys whose connections end, because they were removed or may do something else; and those that are admitted
    ///   from now on.
    mutating func tell() -> (cut: Set<PublicKey>, added: Set<PublicKey>) {
        isNew = false
        let changes = allowed.changes(since: told)
        told = allowed
        return (
            Set((changes.removed + changes.changed).map(\.publicKey)),
            Set((changes.added + changes.changed).map(\.publicKey))
        )
    }
}

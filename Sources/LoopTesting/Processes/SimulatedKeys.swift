import LoopCluster
import LoopCore
import LoopKeys

/// The folder of keys of a simulated reducer: who has which key, and what it is for.
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
    /// How often the folder has changed.
    private(set) var changeCount = 0

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
        changeCount += 1
    }
}

/// What one process of the reducer has read of the folder.
struct KeyReading {
    private(set) var allowed = AllowedKeys.none
    /// How often the folder had changed by then; nil: the process has not read it yet.
    private var changeCount: Int?

    /// Another process begins, and reads the whole folder.
    mutating func begin() { changeCount = nil }

    /// Whether a connection with this key stands.
    func admits(_ key: PublicKey) -> Bool { allowed[key] != nil }

    /// The process reads the folder, if it has changed.
    /// - Returns: the keys whose connections end, because they were removed or may do something else; and those that are admitted
    ///   from now on. nil: it has not changed.
    mutating func read(_ folder: SimulatedKeys) -> (cut: Set<PublicKey>, added: Set<PublicKey>)? {
        guard changeCount != folder.changeCount else { return nil }
        changeCount = folder.changeCount
        let changes = folder.allowed.changes(since: allowed)
        allowed = folder.allowed
        return (
            Set((changes.removed + changes.changed).map(\.publicKey)),
            Set((changes.added + changes.changed).map(\.publicKey))
        )
    }
}

import LoopCore
import LoopKeys

/// The folder of keys of a simulated reducer: the key of each process, and its rights.
///
/// A process has the key of its place, as does a process that replaces it. Hostile processes have keys of their own.
struct SimulatedKeys {
    /// The places of processes with keys. Each raw value is the number of the place's first key.
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

    /// - Parameter groups: the groups of the loop's effects.
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

    /// The key of operators, which never changes.
    static let operators = key(120)

    /// The key of a place.
    static func key(_ place: Place, _ slot: Int) -> PublicKey { key(place.rawValue + UInt8(slot)) }

    /// The key in which every byte is this number.
    static func key(_ number: UInt8) -> PublicKey {
        guard let key = PublicKey(bytes: [UInt8](repeating: number, count: 32)) else {
            preconditionFailure("\(number) is no key")
        }
        return key
    }

    // MARK: The folder

    /// An operator removes a key, or changes its rights. More often, a changed key is restored.
    /// - Returns: the change, as text for people.
    mutating func change(_ dice: inout SeededRandom) -> String {
        if let key = changed.randomElement(using: &dice), dice.fraction() < 0.6 {
            set(key.publicKey, key)
            return "the key \(key.text), is as before"
        }
        guard let key = usual.randomElement(using: &dice) else { return "there are no keys" }
        // Hostile processes have their key or none. They have no use for a role that another process has.
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

    /// Restores every key.
    mutating func restore() { for key in changed { set(key.publicKey, key) } }

    private var changed: [AllowedKey] { usual.filter { allowed[$0.publicKey] != $0 } }

    /// - Parameter entry: the folder's entry for the key from now on, or nil for none.
    private mutating func set(_ key: PublicKey, _ entry: AllowedKey?) {
        allowed = AllowedKeys(allowed.keys.values.filter { $0.publicKey != key } + (entry.map { [$0] } ?? []))
        changeCount += 1
    }
}

/// The content of the folder that one process of the reducer has read.
struct KeyReading {
    private(set) var allowed = AllowedKeys.none
    /// The folder's number of changes at the last reading, or nil if the process has not read it yet.
    private var changeCount: Int?

    /// Another process begins, and reads the whole folder.
    mutating func begin() { changeCount = nil }

    /// Whether a connection with this key is allowed.
    func admits(_ key: PublicKey) -> Bool { allowed[key] != nil }

    /// Reads the folder, if it has changed.
    /// - Returns: the keys whose connections end, because they were removed or their rights have changed, and the keys that are
    ///   admitted from now on. Nil if it has not changed.
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

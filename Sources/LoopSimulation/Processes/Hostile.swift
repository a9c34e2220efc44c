import LoopKeys
import LoopWire

/// A process that wants what is not for it. It knows every number, and makes its messages by itself.
enum Hostile: UInt8, CaseIterable {
    case observer = 200
    case sender
    /// A process whose key is for a group without effects.
    case worker
    case admin
    /// A process that has shown no key. libzmq passes none of its messages on, but the machine must not rely on that.
    case stranger

    /// The group of the hostile worker.
    static let group = "elsewhere"

    /// Its key, if the reducer has keys.
    var key: PublicKey { SimulatedKeys.key(rawValue) }

    /// The rights of its key, or nil if it has none.
    var allowed: AllowedKey? {
        let role: Role
        switch self {
        case .observer: role = .observer
        case .sender: role = .sender
        case .worker: role = .worker
        case .admin: role = .admin
        case .stranger: return nil
        }
        return AllowedKey(key, name: "hostile \(role)", roles: [role], groups: .named([Self.group]))
    }

    /// Its own peer.
    var peer: PeerID { PeerID(high: 0xbad, low: UInt64(rawValue)) }

    /// Its connection to ROUTER.
    var route: [UInt8] { [0xff, rawValue] }

    /// The groups with which it may join.
    var groups: [String] { self == .worker ? [Self.group] : [] }
}

/// A message to the reducer's sockets.
enum HostileWord {
    case message(ToReducer)
    case batch(Batch)
    /// The bytes of a subscription, which may be no topic.
    case subscription([UInt8])
}

/// The messages that hostile processes have sent, and the inboxes to which they listen.
struct HostileTraffic {
    typealias Underway = (word: HostileWord, of: Hostile, arrival: UInt64)

    private var underway: [Underway] = []
    /// The inboxes that hostile processes listen to.
    private(set) var listeners: [(inbox: PeerID, by: Hostile)] = []

    /// The time at which the next word arrives, or `.max` for never.
    var readableAt: UInt64 { underway.map(\.arrival).min() ?? .max }

    mutating func say(_ words: [HostileWord], by hostile: Hostile, arrival: UInt64) {
        for (index, word) in words.enumerated() { underway.append((word, hostile, arrival + UInt64(index))) }
    }

    /// Takes the words that have arrived.
    mutating func take(at now: UInt64) -> [Underway] {
        let arrived = underway.filter { $0.arrival <= now }
        underway.removeAll { $0.arrival <= now }
        return arrived
    }

    mutating func listen(to inbox: PeerID, by hostile: Hostile) { listeners.append((inbox, hostile)) }

    /// Ends some of the listeners' connections.
    mutating func endListeners(where isEnded: (PeerID, Hostile) -> Bool) {
        listeners.removeAll { isEnded($0.inbox, $0.by) }
    }

    /// Drops the words under way, and removes all listeners.
    mutating func end() { (underway, listeners) = ([], []) }
}

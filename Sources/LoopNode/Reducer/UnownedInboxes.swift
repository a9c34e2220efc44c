import LoopKeys
import LoopWire

/// Connections that listen to the inbox of a peer without a session. The key that joins for the peer is the inbox's owner, and
/// connections of other keys are then ended.
struct UnownedInboxes {
    private struct Listener: Hashable {
        let key: PublicKey
        let descriptor: Int32
    }

    private var listeners: [PeerID: Set<Listener>] = [:]

    /// How many peers are remembered. A peer joins within moments.
    private static var peersMax: Int { 4096 }

    mutating func note(_ peer: PeerID, _ key: PublicKey, descriptor: Int32) {
        if listeners.count >= Self.peersMax, listeners[peer] == nil { listeners.remove(at: listeners.startIndex) }
        listeners[peer, default: []].insert(Listener(key: key, descriptor: descriptor))
    }

    /// Forgets the peers whose owners are known now.
    /// - Returns: the descriptors of connections that listen to another key's inbox.
    mutating func settle(owner: (PeerID) -> PublicKey?) -> [Int32] {
        if listeners.isEmpty { return [] }
        var foreign: [Int32] = []
        for (peer, others) in listeners {
            guard let owner = owner(peer) else { continue }
            foreign += others.filter { $0.key != owner }.map(\.descriptor)
            listeners[peer] = nil
        }
        return foreign
    }
}

import LoopWire

/// All processes besides the reducer: those that live, those that are gone, and the places they had.
struct Roster<Script> {
    typealias Peer = SimulatedPeer<Script>

    /// The place of a process in the cluster.
    typealias Place = (role: Peer.Role, slot: Int)

    /// By their index; nil: it is gone, and nothing of it is under way.
    private var peers: [Peer?] = []
    /// The places of all processes that ever were, by their index.
    private(set) var places: [Place] = []
    /// Those that live, or whose messages are still under way.
    private(set) var present: [Peer] = []
    /// The peer of the reducer's own process.
    private(set) var local: Peer?
    /// When those that are gone were killed, or when the reducer last read something of them.
    private(set) var goneAt: [PeerID: UInt64] = [:]
    /// The places of those that have learned of an end and left: should that be lost, others come.
    private var departed: [Place] = []
    private var idCount: UInt32 = 0

    /// The index of the next process.
    var nextIndex: Int { peers.count }

    subscript(index: Int32) -> Peer? { peers[Int(index)] }

    /// A number that no connection and no body has had before.
    mutating func nextID() -> UInt32 {
        idCount += 1
        return idCount
    }

    mutating func add(_ peer: Peer) {
        peers.append(peer)
        places.append((peer.role, peer.slot))
        present.append(peer)
        if peer.role == .local { local = peer }
    }

    /// How many places there ever were for workers.
    var workerSlotCount: Int { Set(places.filter { $0.role == .worker }.map(\.slot)).count }

    var living: [Peer] { present.filter(\.isAlive) }

    var bodies: [Peer.Body] { living.flatMap(\.bodies.all) }

    func living(_ role: Peer.Role, _ slot: Int) -> Peer? {
        present.first { $0.isAlive && $0.role == role && $0.slot == slot }
    }

    // MARK: Ends

    /// A process was killed.
    mutating func noteKilled(_ peer: Peer, at now: UInt64) { goneAt[peer.id] = now }

    /// Another process has taken the place of one that was killed, under the same ID.
    mutating func noteBack(_ peer: Peer) { goneAt[peer.id] = nil }

    /// What a process said before it was killed may arrive long after, and may open a session: that is idle from then on.
    mutating func noteRead(of peer: Peer, at now: UInt64) {
        if goneAt[peer.id] != nil { goneAt[peer.id] = now }
    }

    /// A process has learned of the loop's end, and leaves.
    mutating func depart(_ peer: Peer) {
        peer.life.stage = .gone
        departed.append((peer.role, peer.slot))
    }

    /// The end is lost: the places of those that have left for it are free.
    mutating func takeDeparted() -> [Place] {
        defer { departed = [] }
        return departed
    }

    /// A dead process is looked at until the last of its messages was read.
    mutating func forgetTheGone() {
        guard present.contains(where: { !$0.isAlive }) else { return }
        forget { !$0.isAlive && $0.isRead }
    }

    /// The reducer's process has ended, and its own peer with it.
    mutating func forgetLocal() -> Peer? {
        guard let gone = local.take() else { return nil }
        gone.life.stage = .gone
        gone.bodies.removeAll()
        forget { $0 === gone }
        return gone
    }

    private mutating func forget(_ isGone: (Peer) -> Bool) {
        for peer in present where isGone(peer) { peers[peer.index] = nil }
        present.removeAll { peers[$0.index] == nil }
    }

    /// The first one that lives and has not learned of the loop's end.
    var unaware: Peer? { present.first { $0.isAlive && !$0.life.hasEnded } }
}

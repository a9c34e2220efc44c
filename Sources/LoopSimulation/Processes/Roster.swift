import LoopWire

/// All processes besides the reducer: the living ones, the ended ones, and their places.
struct Roster<Script> {
    typealias Peer = SimulatedPeer<Script>

    /// The place of a process in the cluster: its role and its slot.
    typealias Place = (role: Peer.Role, slot: Int)

    /// The processes by their index, or nil once a process has ended and no message of it is under way.
    private var peers: [Peer?] = []
    /// The places of all processes of the run, by their index.
    private(set) var places: [Place] = []
    /// The processes that live, or whose messages are still under way.
    private(set) var present: [Peer] = []
    /// The peer of the reducer's own process.
    private(set) var local: Peer?
    /// When an ended process was killed, or when the reducer last read something of it.
    private(set) var goneAt: [PeerID: UInt64] = [:]
    /// The places of processes that have left because of an end. If that end is lost, others replace them.
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

    /// The number of workers' places so far.
    var workerSlotCount: Int { Set(places.filter { $0.role == .worker }.map(\.slot)).count }

    var living: [Peer] { present.filter(\.isAlive) }

    var bodies: [Peer.Body] { living.flatMap(\.bodies.all) }

    func living(_ role: Peer.Role, _ slot: Int) -> Peer? {
        present.first { $0.isAlive && $0.role == role && $0.slot == slot }
    }

    // MARK: Ends

    /// A process was killed.
    mutating func noteKilled(_ peer: Peer, at now: UInt64) { goneAt[peer.id] = now }

    /// Another process has replaced one that was killed, under its ID.
    mutating func noteBack(_ peer: Peer) { goneAt[peer.id] = nil }

    /// A killed process's messages may arrive much later, and may open a session. That session is idle from then on.
    mutating func noteRead(of peer: Peer, at now: UInt64) {
        if goneAt[peer.id] != nil { goneAt[peer.id] = now }
    }

    /// A process has learned of the loop's end, and leaves.
    mutating func depart(_ peer: Peer) {
        peer.life.stage = .gone
        departed.append((peer.role, peer.slot))
    }

    /// The end is lost, so the places of the processes that have left because of it are free.
    mutating func takeDeparted() -> [Place] {
        defer { departed = [] }
        return departed
    }

    /// Forgets dead processes once all of their messages were read.
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

    /// The first living process that has not learned of the loop's end.
    var unaware: Peer? { present.first { $0.isAlive && !$0.life.hasEnded } }
}

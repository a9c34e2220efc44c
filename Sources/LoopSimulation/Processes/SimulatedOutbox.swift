import LoopCluster
import LoopWire

/// A client's outbox file: the content of the disk when its process dies, with which the next process continues.
struct SimulatedOutbox {
    /// How long the file may lag behind the settled number, in nanoseconds, as in a node.
    private static var settlingLag: UInt64 { 250_000_000 }

    private(set) var stream: PeerStream
    /// The peer ID of the sender that has the session. It names the inbox.
    private(set) var peer: PeerID
    /// The ids of the entries in the file, by the numbers that their sender knows.
    private var ids: [UInt64: Int] = [:]
    private var committedAt: UInt64 = 0

    init(_ stream: PeerStream, of peer: PeerID) {
        self.stream = stream
        self.peer = peer
    }

    /// The machine has numbered one more entry.
    mutating func accept(_ id: Int, _ number: UInt64) { ids[number] = id }

    /// Writes the changes. Outcomes alone may wait.
    mutating func commit(_ machine: PeerMachine, at now: UInt64) {
        var next = machine.stream(after: machine.settledNumber)
        let isDue = now - committedAt >= Self.settlingLag
        if !isDue, next.session == stream.session, next.base == stream.base, next.last == stream.last {
            next.entries = stream.entries
            next.settled = stream.settled
        }
        if next == stream, machine.configuration.peer == peer { return }
        (stream, peer, committedAt) = (next, machine.configuration.peer, now)
        let settled = stream.base + stream.settled
        ids = ids.filter { $0.key > settled }
    }

    /// The ids of the entries in the file, in their order.
    var entryIDs: [Int] {
        stream.entries.indices.compactMap { ids[stream.base + stream.settled + 1 + UInt64($0)] }
    }

    /// The outbox for the process that continues. A peer without a session gets another ID.
    func reopened(as id: PeerID) -> SimulatedOutbox {
        var reopened = self
        if stream.session == .none { reopened.peer = id }
        reopened.committedAt = 0
        return reopened
    }
}

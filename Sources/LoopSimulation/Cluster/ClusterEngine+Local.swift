import LoopCluster
import LoopCore
import LoopWire

/// The peer in the reducer's own process, for the feedbacks that are placed there. It has the machine of other peers, but no
/// sockets. It begins and ends with the process. (In the order of `LocalPeer`.)
extension ClusterEngine {
    func beginLocally() throws(Violation) {
        guard loop.hasLocalEffects else { return }
        try addPeer(.local, 0)
    }

    /// The process has ended, or has discarded its machines.
    func endLocally() throws(Violation) {
        guard let local = roster.forgetLocal() else { return }
        try observe(.died(peer: local.index))
    }

    func hearLocally(_ peer: Peer, _ frame: PeerFrame, isReply: Bool) throws(Violation) {
        guard peer.isAlive else { return }
        peer.heardEnds.note(frame, at: now)
        if isTranscribing { transcript?.note(.toPeer(peer.index, frame, isLost: false), at: now) }
        if isReply {
            peer.machine.receiveReply(frame, at: time(peer))
        } else {
            peer.machine.receivePublished(frame, at: time(peer))
        }
        wakeReducer(at: now)
    }

    /// Passes the messages of its own peer to the reducer.
    func drainLocal(_ intake: inout ReducerMachine, at time: MonotonicTime) throws(Violation) {
        guard let local = roster.local else { return }
        local.machine.advance(to: time)
        try settleAccounts(of: local)
        for message in local.said {
            if isTranscribing { transcript?.note(.toReducer(local.index, message), at: now) }
            intake.receive(message, from: .local, by: .local)
        }
        local.said.removeAll()
        while let batch = local.machine.nextBatch() {
            try noteSent(batch, by: local)
            if isTranscribing { transcript?.note(.batch(local.index, batch), at: now) }
            intake.receive(batch, by: .local)
        }
    }
}

import LoopCluster
import LoopCore
import LoopWire

/// Who may be kept waiting.
extension ClusterEngine {
    /// A peer is kept waiting because there are as many sessions as there may be: none of them is of a process that is long gone,
    /// holds nothing, and has sent no event of its own of which it would have to be told.
    func demandNoRoom(for peer: Peer) throws(Violation) {
        guard let reducer, reducer.core.sessions.count >= plan.sessionsMax else { return }
        checkers.count(.progress)
        let patience = UInt64((plan.silenceLimit * 3 + .seconds(4)).wholeNanoseconds)
        guard now > reducerBeganAt + patience else { return }
        let living = Set(present.lazy.filter(\.isAlive).map(\.id))
        var leases: [UInt64: Int] = [:]
        for peer in reducer.status().peers { leases[peer.session] = peer.leases }
        for (session, record) in reducer.core.sessions {
            guard record.watermark == 0 || record.isOnlyOfEffects, leases[session.value, default: 0] == 0,
                !living.contains(record.peer),
                let time = goneAt[record.peer]
            else { continue }
            // The reducer does not count its own standstills.
            let stoodStill = standstills.reduce(0) { $1.at > time ? $0 + $1.length : $0 }
            if now <= time + patience + stoodStill { continue }
            throw Violation(
                .progress,
                "peer \(peer.index) is kept waiting, and session \(session) of a process that is gone is idle")
        }
    }
}

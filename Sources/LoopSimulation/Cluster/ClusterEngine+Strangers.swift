import LoopCluster
import LoopCore
import LoopWire

/// A reducer without keys among hostile processes. They can act for any other process, so what happens to the others is not
/// checked. The reducer must continue within its limits and according to its journal. (Protocol, section 12, "Without keys".)
extension ClusterEngine {
    /// An honest process that receives something impossible ends, and its supervisor starts another.
    func performUnguarded(_ task: Agenda.Task) throws(Violation) {
        do {
            try perform(task)
        } catch {
            guard let peer = task.peer.flatMap({ roster[$0] }), peer.isAlive,
                !Checkers<Work>.unguarded.contains(error.promise)
            else { throw error }
            say("\(peer.role) \(peer.index) ends: \(error)")
            try kill(peer)
        }
    }

    /// Whether every record is durable, even those with which a history begins.
    var hasWrittenAll: Bool { process.machine?.journaled.position == storage.disk?.position }

    /// What is missing until the reducer has proved to work: it must serve a process that comes after the hostile ones.
    func unsettledAmongStrangers(_ reducer: ReducerMachine) -> String? {
        guard let latecomer else { return "hostile processes are there" }
        guard hasWrittenAll else { return "the reducer has records to write" }
        let isServed = latecomer.machine.isJoined && latecomer.machine.epoch == reducer.epoch
        return isServed || latecomer.life.hasEnded ? nil : "a process that came when they had gone is not let in"
    }
}

extension Agenda.Task {
    /// The process whose turn it is, or nil if the task is the reducer's, or no process's.
    fileprivate var peer: Int32? {
        switch self {
        case .peerTurn(let index), .effectStep(let index, _), .clientEvent(let index): index
        case .reducerTurn, .reducerSynced, .reducerStart, .reducerRetry, .snapshotWritten, .jobDone, .candidateLook,
            .statement, .answer, .confirmation, .failover, .happening,
            .observerStart, .observerDamage, .endNears, .endFault, .fault:
            nil
        }
    }
}

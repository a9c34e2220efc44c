import LoopCluster
import LoopCore
import LoopLock
import LoopWire
import ZMQ

/// Opens a reducer's sockets, and answers peers while it waits for its journal.
extension ReducerShell {
    static func listen(
        _ definition: Definition, _ configuration: ReducerNodeConfiguration, _ ring: KeyRing?, _ log: NodeLog
    ) throws -> ReducerSockets {
        var sockets = try ReducerSockets(
            bind: configuration.bind, servers: ring?.servers ?? [], limits: configuration.connectionLimits,
            loop: LoopID(name: Definition.name),
            fingerprint: DefinitionFingerprint(of: definition).value,
            context: try context(configuration, ring), log: log)
        if let ring {
            try sockets.open(ring.servers)
            for note in ring.notes { log.note(.keysChanged, note) }
        } else if !sockets.bound.endpoint.isLocal {
            log.note(
                .insecure, "\(sockets.bound) can be reached from other machines, and there are no keys (--insecure)",
                [.address("\(sockets.bound)")])
        }
        return sockets
    }

    /// The I/O threads of a reducer with keys. A handshake takes one of them some 2 ms, and the frames of its other connections
    /// wait meanwhile. With two threads, a flood of handshakes delays fewer connections, and those for half as long.
    private static var guardedThreads: Int { 2 }

    /// Chooses the context. A reducer with keys has its own, which decides about each connection.
    private static func context(
        _ configuration: ReducerNodeConfiguration, _ ring: KeyRing?
    ) throws(ZMQError) -> ZMQContext {
        guard let ring else {
            if let context = configuration.context { return context }
            return try ZMQContext()
        }
        return try ZMQContext(ioThreads: guardedThreads, authenticator: { ring.verdict(on: $0) })
    }

    /// What a standby has when it begins to lead. The state is moved out of it, because a shared one would be copied at
    /// its first change.
    final class Gained {
        let journal: any Journal
        let listeners: Standby.Listeners
        /// The state to continue from, or nil to recover as at any start.
        var warm: WarmState?
        /// How far this process had followed the journal when it found records lost, or nil if that never happened.
        let lost: FollowedEnd?

        init(
            journal: any Journal, listeners: Standby.Listeners = Standby.Listeners(),
            warm: WarmState? = nil, lost: FollowedEnd? = nil
        ) {
            self.journal = journal
            self.listeners = listeners
            self.warm = warm
            self.lost = lost
        }
    }

    /// What a reducer keeps when it has led and becomes a standby. A state that it has followed in vain is put back here.
    final class Left {
        /// The state to follow from, or nil to begin with a snapshot.
        var warm: WarmState?
        /// The peers that it has led.
        var peers: [PeerID] = []
        /// The history of the journal that it had open, or nil if it had none.
        var history: History?
        /// The time until which it leaves the journal to other processes.
        var standsBackUntil: MonotonicTime?
    }

    /// Answers peers and follows the journal until this reducer has it.
    /// - Throws: `JournalError`, or an error of the sockets.
    static func waitForJournal(
        _ definition: Definition, _ holder: SocketHolder, _ configuration: ReducerNodeConfiguration, _ ring: KeyRing?,
        _ log: NodeLog, _ obstacle: JournalObstacle, _ left: Left, _ isStopping: @escaping @Sendable () -> Bool
    ) throws -> Gained {
        let own = configuration.address(bound: holder.sockets.bound)
        let leavesItUntil = Locked(MonotonicTime.zero)
        let following = JournalFollowing(
            definition, configuration, from: left.warm.take(), log: log, isStopping: isStopping)
        defer { following.end() }
        let standby = Standby(
            holder, loop: Definition.name, schema: UInt64(Definition.schema), ring: ring, own: own, led: left.peers,
            log: log, obstacle: obstacle, leavesItUntil: leavesItUntil, following: { following.report })
        var opening = opening(configuration, waits: true, address: own, log, isStopping)
        opening.standsBackUntil = left.standsBackUntil
        opening.leavesItUntil = { leavesItUntil.withLock { $0 } }
        opening.following = { following.report }
        opening.hears = { following.hear($0) }
        opening.expected = { [history = left.history] in following.report.firstHistory ?? history }
        let wait = try JournalWait(configuration.journal, opening)
        let item = holder.sockets.watch(descriptor: wait.descriptor)
        defer { holder.sockets.unwatch(item) }
        do {
            while true {
                if let journal = try wait.take() {
                    return Gained(
                        journal: journal, listeners: standby.listeners, warm: following.handOver(), lost: following.lost
                    )
                }
                try standby.answer(wait.owner)
            }
        } catch {
            wait.giveUp()
            left.warm = following.handOver()
            throw error
        }
    }

    /// Describes how to open the journal.
    static func opening(
        _ configuration: ReducerNodeConfiguration, waits: Bool, address: String?, _ log: NodeLog,
        _ isStopping: @escaping @Sendable () -> Bool
    ) -> JournalPlace.Opening {
        var opening = JournalPlace.Opening(
            loop: Definition.name, durability: configuration.durability, waits: waits, address: address,
            isStopping: isStopping, note: { log.note(.journal, $0) })
        opening.lease = configuration.journalLease
        opening.deadline = configuration.journalDeadline
        return opening
    }

    /// Waits for the journal before the reducer has ever led.
    /// - Throws: `RecoveryError.stopped` if it was stopped meanwhile.
    static func standBy(
        _ definition: Definition, _ holder: SocketHolder, _ configuration: ReducerNodeConfiguration, _ ring: KeyRing?,
        _ log: NodeLog, _ obstacle: JournalObstacle, _ isStopping: @escaping @Sendable () -> Bool
    ) throws -> Gained {
        if configuration.address(bound: holder.sockets.bound) == nil {
            log.note(
                .standby,
                "no other machine can dial \(configuration.bind): peers and other standbys are not told where this reducer is"
                    + " (--advertise)", [.address("\(configuration.bind)")], level: .warning)
        }
        do {
            return try waitForJournal(definition, holder, configuration, ring, log, obstacle, Left(), isStopping)
        } catch let error as JournalError {
            if error.kind.mayPass, isStopping() { throw RecoveryError.stopped }
            throw NodeError(error)
        }
    }
}

import LoopCluster
import LoopWire
import ZMQ

/// How a reducer comes to its sockets, and waits for its journal behind them.
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

    /// The I/O threads of a reducer with keys. A handshake takes one of them some 2 ms, and the frames of its other connections wait
    /// meanwhile. With two, a flood of handshakes delays fewer connections, and those for half as long.
    private static var guardedThreads: Int { 2 }

    /// A reducer with keys has a context of its own, which asks for each connection.
    private static func context(
        _ configuration: ReducerNodeConfiguration, _ ring: KeyRing?
    ) throws(ZMQError) -> ZMQContext {
        guard let ring else {
            if let context = configuration.context { return context }
            return try ZMQContext()
        }
        return try ZMQContext(ioThreads: guardedThreads, authenticator: { ring.verdict(on: $0) })
    }

    static func makeStandby(
        _ holder: SocketHolder, _ configuration: ReducerNodeConfiguration, _ ring: KeyRing?, _ log: NodeLog
    ) -> Standby {
        Standby(
            holder, loop: Definition.name, schema: UInt64(Definition.schema), ring: ring,
            own: configuration.address(bound: holder.sockets.bound), log: log)
    }

    /// Opens the journal, and answers peers while another process has it.
    /// - Throws: `JournalError`, and what the sockets throw.
    static func open(
        _ standby: Standby, _ configuration: ReducerNodeConfiguration, _ log: NodeLog,
        _ isStopping: @escaping @Sendable () -> Bool
    ) throws -> any Journal {
        var failure: (any Error)?
        do {
            return try configuration.journal.open(
                JournalPlace.Opening(
                    loop: Definition.name, durability: configuration.durability, waits: true, address: standby.own,
                    whileWaiting: { owner in
                        do {
                            try standby.answer(owner)
                        } catch {
                            failure = error
                        }
                        return failure == nil
                    }, isStopping: isStopping, note: { log.note(.journal, $0) }))
        } catch {
            throw failure ?? error
        }
    }

    /// Waits for the journal before the reducer has ever led.
    /// - Throws: `RecoveryError.stopped` if it was told to stop meanwhile.
    static func standBy(
        _ holder: SocketHolder, _ configuration: ReducerNodeConfiguration, _ ring: KeyRing?, _ log: NodeLog,
        _ isStopping: @escaping @Sendable () -> Bool
    ) throws -> (journal: any Journal, listeners: Standby.Listeners) {
        let standby = makeStandby(holder, configuration, ring, log)
        if standby.own == nil {
            log.note(
                .standby,
                "no other machine can dial \(configuration.bind): peers and other standbys are not told where this reducer is"
                    + " (--advertise)", [.address("\(configuration.bind)")], level: .warning)
        }
        do {
            let journal = try open(standby, configuration, log, isStopping)
            return (journal, standby.listeners)
        } catch let error as JournalError {
            if error.kind == .locked, isStopping() { throw RecoveryError.stopped }
            throw NodeError.journal("\(error)")
        }
    }
}

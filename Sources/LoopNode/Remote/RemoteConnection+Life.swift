import LoopCluster
import LoopCore
import LoopLock
import LoopWire
import ZMQ

extension RemoteConnection {
    /// The work of a connection's thread from start to end.
    struct Life: Sendable {
        let loop: String
        let schema: UInt64
        let reducer: ReducerAddress
        let name: String
        let follower: Follower?
        let outbox: String?
        let stopLimit: Duration
        let connectTimeout: Duration?
        let logsFailure: Bool
        let log: NodeLog
        let gate: OutboxGate
        let executor: ConnectionExecutor
        /// Passes an action to the watchers.
        let tell: @Sendable (ObserverAction) -> Void
        /// Records why the connection has ended.
        let fail: @Sendable (NodeError) -> Void

        /// - Parameters:
        ///   - context: the context of the sockets, or nil for one of its own, whose end waits until the last message has left.
        ///   - opened: set to the result of opening the outbox.
        func live(_ context: ZMQContext?, _ opened: Monitor<Result<RecoveredEvents?, NodeError>?>) {
            let resumed: ResumedOutbox?
            let ownContext: ZMQContext
            do {
                ownContext = try context ?? ZMQContext()
                resumed = try outbox.map { path throws(OutboxError) in try ResumedOutbox(path, loop: loop) }
                if let warning = resumed?.file.warning { log.note(.outbox, warning, [.reason(warning)]) }
                opened.withLock { $0 = .success(resumed?.recovered) }
                opened.broadcast()
            } catch {
                opened.withLock { $0 = .failure(.system("\(error)")) }
                opened.broadcast()
                return
            }
            do {
                var shell = try shell(resumed, ownContext)
                let end: PeerShell.End
                do {
                    end = try shell.run(stopLimit: stopLimit)
                } catch let killed as NodeKilled {
                    throw killed
                } catch {
                    gate.close(SendRefusal(.ended, detail: "\(error)"), mayBeApplied: shell.hasOffered)
                    report(shell.unsettled(), within: nil)
                    throw error
                }
                resumed?.recovered.fail(.system("the connection was closed before the outcome was known"))
                switch end {
                case .loopEnded(let exitCode, let text): tellAll(.ended(exitCode: exitCode, text: text))
                case .stopped:
                    report(shell.unsettled(), within: stopLimit)
                    tellAll(.ended(exitCode: 0, text: ""))
                }
            } catch {
                let failure = error as? NodeError ?? .system("\(error)")
                fail(failure)
                if logsFailure, !(error is NodeKilled) {
                    log.note(
                        .connectionEnded, "the connection to \(reducer) has ended: \(failure)",
                        [.address("\(reducer)"), .reason("\(failure)")])
                }
                resumed?.recovered.fail(failure)
                // The gate is closed already if a shell has run.
                gate.close(SendRefusal(.ended, detail: "\(error)"), mayBeApplied: false)
                tellAll(.ended(exitCode: 2, text: "\(error)"))
            }
        }

        private func shell(_ resumed: ResumedOutbox?, _ context: ZMQContext) throws -> PeerShell {
            let now = SystemClock.monotonic
            var configuration = PeerConfiguration(
                peer: resumed?.file.peer ?? PeerID(high: SystemRandom.uint64(), low: SystemRandom.uint64()),
                loop: resumed?.loop ?? loop, schema: schema, fingerprint: follower?.following.fingerprint ?? 0,
                name: name, outboxEntriesMax: 8192)
            configuration.places = reducer.each.map(\.description)
            let driver =
                if let resumed {
                    PeerDriver(
                        configuration: configuration, resuming: resumed.stream, of: resumed.file,
                        recovered: resumed.recovered, gate: gate, at: now)
                } else {
                    PeerDriver(configuration: configuration, effects: nil, gate: gate, at: now)
                }
            return try PeerShell(
                context: context, reducer: reducer, driver: driver,
                observer: follower.map { ObserverMachine($0.following, at: now) }, log: log,
                connectTimeout: connectTimeout, executor: executor,
                observed: { action in
                    let observed = follower?.take(action) ?? .fine
                    tell(action)
                    return observed
                })
        }

        private func tellAll(_ action: ObserverAction) {
            _ = follower?.take(action)
            tell(action)
        }

        private func report(_ events: UnsettledEvents, within limit: Duration?) {
            if let text = events.text(reducer: reducer, within: limit, outbox: outbox) {
                log.note(.unsettled, text, [.address("\(reducer)")])
            }
        }
    }
}

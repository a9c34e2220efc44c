import LoopCluster
import LoopCore
import LoopWire

/// The worker in the reducer's process, which runs the feedbacks placed there. It has the same machine, fence and receipts as a
/// remote worker, but no sockets.
///
/// It continues the session of the previous process; else each start would leave an unused session.
struct LocalPeer {
    private var driver: PeerDriver
    private(set) var hasWork = true

    init<Definition: LoopDefinition>(
        _ definition: Definition, capacity: Int, fingerprint: UInt64, continuing stream: PeerStream?,
        tracer: Tracer?, at now: MonotonicTime
    ) throws {
        let configuration = PeerConfiguration(
            peer: .local, loop: Definition.name, schema: UInt64(Definition.schema), fingerprint: fingerprint,
            groups: [localGroup], capacity: capacity, name: "reducer")
        driver = PeerDriver(
            configuration: configuration, continuing: stream,
            effects: DefinitionEffects(definition, coder: CBORCoder()),
            gate: try OutboxGate(capacity: capacity, tracer: tracer), at: now)
    }

    var peer: PeerID { driver.machine.configuration.peer }

    var descriptor: Int32 { driver.gate.descriptor }

    /// Cancels the bodies, and accepts nothing that they still send.
    mutating func die() {
        driver.gate.kill()
        driver.cancelBodies()
    }

    mutating func receivePublished(_ frame: PeerFrame, at now: MonotonicTime) {
        driver.machine.receivePublished(frame, at: now)
        hasWork = true
    }

    mutating func receiveReply(_ frame: PeerFrame, at now: MonotonicTime) {
        driver.machine.receiveReply(frame, at: now)
        hasWork = true
    }

    /// Passes this peer's messages to the reducer.
    mutating func turn(_ intake: inout ReducerMachine, at now: MonotonicTime, _ log: NodeLog) {
        hasWork = false
        driver.takePosted(at: now, log)
        for action in driver.turn(at: now, log) {
            switch action {
            case .send(let message): intake.receive(message, from: .local, by: .local)
            case .connect: hasWork = true
            case .dial, .redial, .lookUp, .rebuildPush, .run, .update, .stop, .settled, .answered, .hasSpace,
                .keptWaiting, .refused, .loopEnded, .finished:
                break
            }
        }
        while let batch = driver.machine.nextBatch() { intake.receive(batch, by: .local) }
        driver.tellSenders()
        driver.watchPool(at: now, log)
    }
}

import LoopCluster
import LoopCore
import LoopWire

/// The worker that lives in the reducer's process and runs the feedbacks placed there: the same machine, the same fence
/// and the same receipts as a remote one, without sockets between.
///
/// It goes on in the session of the process before: else each start would leave one behind.
struct LocalPeer {
    private var driver: PeerDriver
    private(set) var hasWork = true

    init<Definition: LoopDefinition>(
        _ definition: Definition, capacity: Int, fingerprint: UInt64, continuing stream: PeerStream?,
        at now: MonotonicTime
    ) throws {
        let configuration = PeerConfiguration(
            peer: .local, loop: Definition.name, schema: UInt64(Definition.schema), fingerprint: fingerprint,
            groups: [localGroup], capacity: capacity, name: "reducer", outboxEntriesMax: 8192 + 4 * capacity)
        driver = PeerDriver(
            configuration: configuration, continuing: stream,
            effects: DefinitionEffects(definition, coder: CBORCoder()),
            gate: try OutboxGate(countMax: 4096 + 2 * capacity, bytesMax: 16 << 20), at: now)
    }

    var peer: PeerID { driver.machine.configuration.peer }

    var descriptor: Int32 { driver.gate.descriptor }

    /// The bodies are cancelled, and nothing that they still send is accepted.
    mutating func die() {
        driver.gate.kill()
        driver.cancelBodies()
    }

    mutating func receivePublished(_ frame: PeerFrame, at now: MonotonicTime) {
        driver.receivePublished(frame, at: now)
        hasWork = true
    }

    mutating func receiveReply(_ frame: PeerFrame, at now: MonotonicTime) {
        driver.receiveReply(frame, at: now)
        hasWork = true
    }

    /// Hands the reducer what this peer has to say.
    mutating func turn(_ intake: inout ReducerCore, at now: MonotonicTime, _ log: NodeLog) {
        hasWork = false
        driver.takePosted(at: now)
        for action in driver.turn(at: now) {
            switch action {
            case .send(let message): intake.receive(message, from: .local, by: .local)
            case .connect: hasWork = true
            case .dial, .redial, .lookUp, .rebuildPush, .run, .update, .stop, .settled, .answered, .hasSpace,
                .keptWaiting, .refused, .loopEnded, .finished:
                break
            }
        }
        while let batch = driver.nextBatch() { intake.receive(batch, by: .local) }
        driver.tellSenders()
        driver.watchPool(at: now, log)
        driver.tellPeople(log)
    }
}

import CBOR
import LoopCluster
import LoopCore
import LoopWire
import TestFolders
import Testing
import ZMQ

@testable import LoopNode

@Suite(.timeLimit(.minutes(5))) struct `A peer joins` {
    /// Its socket takes nothing before it is connected: the first word of every peer was lost, and came again when it was due.
    @Test func `without having to repeat a message, whichever starts first`() async throws {
        let address = ipcAddress()
        let gate = try OutboxGate(countMax: 16, bytesMax: 1 << 20)
        async let end = NodeThread.run("peer") {
            let now = SystemClock.monotonic
            let configuration = PeerConfiguration(
                peer: PeerID(high: 1, low: 2), loop: Jobs.name, schema: UInt64(Jobs.schema),
                repeatInterval: .seconds(3600))
            var shell = try PeerShell(
                context: ZMQContext(), reducer: address,
                driver: PeerDriver(configuration: configuration, effects: nil, gate: gate, at: now), observer: nil,
                log: NodeLog(name: "peer", .silent), observed: { _ in .fine })
            return try shell.run(stopLimit: .seconds(5))
        }
        let reducer = try ReducerNode(Jobs(), configuration: .test(address, try ZMQContext()))
        async let outcome = reducer.run()
        let event = Entry(kind: .event, payload: try CBOR.encode(Jobs.Event.note("here"))[...], wantsSeq: true)
        #expect(try await gate.send(event).state.seq == Seq(1))
        gate.requestStop()
        #expect(try await end == .stopped)
        reducer.stop()
        _ = try await outcome
    }
}

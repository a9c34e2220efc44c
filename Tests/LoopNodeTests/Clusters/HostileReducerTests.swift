import LoopCollections
import LoopCore
import LoopWire
import TestFolders
import Testing
import ZMQ

@testable import LoopNode

@Suite(.timeLimit(.minutes(5))) struct `A peer of something that only pretends to be a reducer` {
    @Test func `G12 goes on asking where it names addresses that cannot be used, and says so`() async throws {
        let address = ipcAddress()
        let lines = Locked<[String]>([])
        let isSaid: @Sendable () -> Bool = { lines.withLock { $0.contains { $0.contains("cannot be used") } } }
        async let asked = NodeThread.run("pretender") {
            var router = try Socket(.router, in: try ZMQContext())
            try router.bind(address.description)
            var polls = PollSet()
            polls.add(router)
            var peer = RoutingID()
            var message = Message()
            // Once after it has said so.
            while true {
                try polls.wait(milliseconds: 240_000)
                let wasSaid = isSaid()
                while try router.receive(from: &peer, into: &message) {
                    guard case .hello? = try? ToReducer(bytes: message.copy()[...], loop: LoopID(name: Jobs.name))
                    else {
                        continue
                    }
                    if wasSaid { return true }
                    let introduction = Introduction(
                        name: Jobs.name, schema: UInt64(Jobs.schema), fingerprint: 0, publisher: "nonsense://\u{1B}[2J",
                        collector: "7712", eventBytesMax: 1000)
                    let frame = PeerFrame(
                        history: History(1), epoch: Epoch(number: 1, nonce: 1), session: .none,
                        message: .introduction(introduction))
                    _ = try router.send(frame.bytes(topic: nil), to: peer)
                }
            }
        }
        let connection = try RemoteConnection(
            loop: Jobs.name, reducer: address, name: "client",
            log: .lines { line in lines.withLock { $0.append(line) } })
        #expect(try await asked)
        #expect(lines.withLock { $0.allSatisfy { !$0.contains("\u{1B}") } })
        await connection.close()
        #expect(connection.failure == nil)
    }

    @Test func `is not started with names that a reducer would not read`() async throws {
        let name = String(repeating: "g", count: 129)
        let node = try EffectNode(
            Jobs(), configuration: EffectNodeConfiguration(reducer: ipcAddress(), groups: [name], log: .silent))
        await #expect(throws: NodeError.self) { _ = try await node.run() }
    }
}

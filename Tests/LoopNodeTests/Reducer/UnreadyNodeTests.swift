import LoopCore
import LoopKeys
import LoopWire
import TestFolders
import Testing
import ZMQ

@testable import LoopNode

@Suite(.timeLimit(.minutes(2))) struct `A reducer with keys whose journal has failed` {
    @Test func `lets no sender follow transitions`() async throws {
        let folder = TestFolder()
        let keys = KeyFolder("\(folder.path)/keys")
        let (main, sender) = (try KeyPair(), try KeyPair())
        _ = try keys.issue(NewKey(name: #require(KeyName("main")), roles: [.reducer])) { main }
        _ = try keys.issue(NewKey(name: #require(KeyName("ann")), roles: [.sender])) { sender }
        let (address, log, disk) = (ipcAddress(), LogCollector(), TestDisk())
        disk.content.withLock { $0.failures = Array(repeating: .unreachable, count: 10_000) }
        var configuration = ReducerNodeConfiguration(
            bind: try BindAddress(address), journal: disk.place, log: log.handler)
        configuration.succession = .wait
        configuration.keys = keys
        let node = try ReducerNode(Jobs(ends: false), configuration: configuration)
        let run = Task { try await node.run() }
        while !log.events.contains(where: { $0.kind == .journalFailed }) { try await Task.sleep(for: .milliseconds(5)) }

        let reducer = address.with(PeerKeys(own: sender, reducer: main.publicKey))
        let context = try ZMQContext()
        var socket = try reducer.socket(.updates, in: context)
        var message = Message()
        try socket.connect(try #require(BindAddress.publisher(at: address)))
        try socket.subscribe(Topic.transitions(LoopID(name: Jobs.name)).bytes)
        while !log.events.contains(where: { $0.kind == .subscriptionRefused }) {
            #expect(try !socket.receive(into: &message))
            try await Task.sleep(for: .milliseconds(5))
        }
        node.stop()
        _ = try? await run.value
    }
}

@Suite(.timeLimit(.minutes(2))) struct `A reducer that has waited for its journal` {
    /// The process that had the journal leaves it before it leaves its addresses.
    @Test func `waits a moment for its addresses`() async throws {
        let (address, log, context) = (ipcAddress(), LogCollector(), try ZMQContext())
        var former: Socket? = try Socket(.router, in: context)
        _ = try former?.bind(address.description)
        var configuration = ReducerNodeConfiguration(
            bind: try BindAddress(address), journal: .memory, log: log.handler)
        configuration.succession = .wait
        let node = try ReducerNode(Jobs(ends: false), configuration: configuration)
        let run = Task { try await node.run() }
        try await Task.sleep(for: .milliseconds(200))
        former = nil
        while !log.events.contains(where: { $0.kind == .listening }) { try await Task.sleep(for: .milliseconds(5)) }
        node.stop()
        _ = try await run.value
    }
}

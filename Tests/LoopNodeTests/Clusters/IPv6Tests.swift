import Linux
import LoopCore
import LoopNode
import LoopWire
import Testing
import ZMQ

/// Whole clusters over TCP, at the addresses that IPv6 and names bring.
@Suite(.timeLimit(.minutes(5)), .enabled("this machine has no ::1") { machineHasIPv6 })
struct `Clusters over IPv6` {
    @Test(arguments: [
        ("tcp://[::1]:0", "[::1]"), ("tcp://localhost:0", "localhost"), ("tcp://[::]:0", "[::1]"),
        ("tcp://*:0", "127.0.0.1"), ("tcp://*:0", "[::1]"), ("tcp://127.0.0.1:0", "[::ffff:127.0.0.1]"),
    ])
    func `do jobs, and answer tools`(bind: String, host: String) async throws {
        let context = try ZMQContext()
        let (bound, tell) = AsyncStream.makeStream(of: ReducerAddress.self)
        var configuration = ReducerNodeConfiguration(
            bind: try BindAddress(parsing: bind), journal: .memory, context: context, log: .silent)
        configuration.isInsecure = true
        configuration.onListening = { tell.yield($0) }
        let reducer = try ReducerNode(Jobs(), configuration: configuration)
        async let outcome = reducer.run()
        var iterator = bound.makeAsyncIterator()
        let port = try #require(await iterator.next()).description.split(separator: ":").last ?? ""
        let address = try ReducerAddress(parsing: "tcp://\(host):\(port)")
        let report = try await NodeThread.run("probe") {
            try StatusProbe.ask(address, within: .seconds(60), context: context)
        }
        #expect(report.loop == Jobs.name)
        let worker = try EffectNode(Jobs(), configuration: .test(address, context, "w"))
        async let end = worker.run()
        let remote = try RemoteLoop(Jobs.self, reducer: address, context: context, log: .silent)
        try await remote.sendAndConfirm(.add(10))
        #expect(try await outcome?.exitCode == 0)
        #expect(try await end == .loopEnded(exitCode: 0, text: "sum 285"))
        await remote.close()
    }

    @Test(arguments: [
        ("tcp://no.such.host.invalid:7710", "the host name has no address ("),
        ("tcp://[fd00:dead::1]:7710", "Cannot assign requested address (this machine has no such address or interface"),
        ("tcp://192.0.2.1:7710", "Cannot assign requested address (this machine has no such address or interface"),
    ])
    func `say why an address cannot be bound`(bind: String, why: String) async throws {
        var configuration = ReducerNodeConfiguration(
            bind: try BindAddress(parsing: bind), journal: .memory, log: .silent)
        configuration.isInsecure = true
        let error = await #expect(throws: (any Error).self) {
            try await ReducerNode(Jobs(), configuration: configuration).run()
        }
        #expect("\(try #require(error))".contains(why))
    }
}

/// Whether the system's list of IPv6 addresses has the loopback address.
private var machineHasIPv6: Bool {
    let list = (try? FileSystem.bytes(of: "/proc/net/if_inet6")) ?? []
    return String(decoding: list, as: UTF8.self).contains("00000000000000000000000000000001 ")
}

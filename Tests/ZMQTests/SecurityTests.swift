import Glibc
import LoopKeys
import Testing

@testable import ZMQ

@Suite struct `G12 sockets with keys` {
    private let guarded: Guarded

    init() throws { guarded = try Guarded() }

    @Test func `cannot be servers where no peer is asked for`() throws {
        var options = SocketOptions()
        options.security = .server(secretKey: guarded.keys.secretKey, domain: "loop")
        let error = try #require(throws: ZMQError.self) {
            _ = try Socket(.pull, in: ZMQContext(), options: options)
        }
        #expect(error == ZMQError(.secure, code: EACCES))
        #expect(error.description.contains("no authenticator"), "\(error)")
    }

    @Test(arguments: ["", String(repeating: "x", count: 256), "a\0b"])
    func `cannot be servers without a domain that libzmq takes`(domain: String) async throws {
        await #expect(processExitsWith: .failure) { [domain = domain as String] in
            _ = try? Guarded().server(.pull, domain: domain)
        }
        _ = try guarded.server(.pull, domain: String(repeating: "x", count: 255))
    }

    @Test(arguments: ["inproc://keys", "tipc://{5560,0,0}", "ws://127.0.0.1:9", ""])
    func `stay away from transports on which keys are not asked for`(endpoint: String) throws {
        var server = try guarded.server(.pull)
        var client = try guarded.client(.push, try guarded.admitted())
        #expect(throws: ZMQError(.bind, code: ENOTSUP, endpoint: endpoint)) { try server.bind(endpoint) }
        #expect(throws: ZMQError(.connect, code: ENOTSUP, endpoint: endpoint)) { try client.connect(endpoint) }
        #expect(ZMQError(.bind, code: ENOTSUP, endpoint: endpoint).description.contains("tcp:// or ipc://"))
    }

    @Test func `are not opened if libzmq has other settings than were asked for`() throws {
        let asked = SocketSecurity.server(secretKey: guarded.keys.secretKey, domain: "loop")
        let error = ZMQError(.secure, code: EPROTO)
        #expect(error.description.contains("would not be secure"))
        let plain = try Socket(.pull, in: guarded.context)
        let elsewhere = try guarded.server(.pull, domain: "loop.other")
        let longer = try guarded.server(.pull, domain: "loop2")
        let client = try guarded.client(.push, guarded.keys)
        for raw in [plain.raw, elsewhere.raw, longer.raw, client.raw] {
            #expect(throws: error) { try asked.check(appliedTo: raw) }
        }
        let same = try guarded.server(.pull)
        try asked.check(appliedTo: same.raw)
        let asClient = SocketSecurity.client(serverKey: guarded.keys.publicKey, keys: guarded.keys)
        try asClient.check(appliedTo: client.raw)
        #expect(throws: error) { try asClient.check(appliedTo: plain.raw) }
        let others = SocketSecurity.client(serverKey: try KeyPair().publicKey, keys: guarded.keys)
        #expect(throws: error) { try others.check(appliedTo: client.raw) }
        withExtendedLifetime((plain.kind, elsewhere.kind, longer.kind, client.kind, same.kind)) {}
    }

    @Test func `take messages of the same size as sockets without keys, and none that is larger`() throws {
        var options = SocketOptions()
        options.messageBytesMax = 1000
        options.security = .server(secretKey: guarded.keys.secretKey, domain: "loop")
        var server = try Socket(.pull, in: guarded.context, options: options)
        var monitor = try SocketMonitor(server)
        var client = try guarded.client(.push, try guarded.admitted())
        let endpoint = try server.bind("tcp://127.0.0.1:*")
        try client.connect(endpoint)
        let largest = String(repeating: "x", count: 1000)
        try deliver(largest, by: &client)
        #expect(try next(&server) == largest)
        try deliver(largest + "x", by: &client)
        while true { if case .disconnected = try next(&monitor) { break } }
        var other = try guarded.client(.push, try guarded.admitted())
        try other.connect(endpoint)
        try deliver("of another client", by: &other)
        #expect(try next(&server) == "of another client")
    }

    @Test func `say when libzmq was built without CURVE`() {
        #expect(ZMQError(.secure, code: ENOTSUP).description.contains("without CURVE"))
    }

    @Test func `ask once for each connection, with its domain, address and key`() throws {
        var server = try guarded.server(.pull, domain: "loop.pull")
        let keys = try guarded.admitted()
        var client = try guarded.client(.push, keys)
        try client.connect(try server.bind("tcp://127.0.0.1:*"))
        for text in ["first", "second"] {
            try deliver(text, by: &client)
            #expect(try next(&server) == text)
        }
        let asked = guarded.admissions.asked
        #expect(asked.count == 1)
        #expect(asked.first?.domain == "loop.pull")
        #expect(asked.first?.key == keys.publicKey)
    }

    @Test func `admit no peer for which the authenticator fails, and all that come after it`() throws {
        var server = try guarded.server(.pull)
        var monitor = try SocketMonitor(server)
        let endpoint = try server.bind("tcp://127.0.0.1:*")
        let unlucky = try guarded.admitted(as: Admissions.failing)
        var refused = try guarded.client(.push, unlucky)
        try refused.connect(endpoint)
        try deliver("refused", by: &refused)
        #expect(try nextFailure(&monitor) == .notAdmitted(status: 500))
        var client = try guarded.client(.push, try guarded.admitted())
        try client.connect(endpoint)
        try deliver("admitted", by: &client)
        #expect(try next(&server) == "admitted")
        #expect(guarded.admissions.asked.first?.key == unlucky.publicKey)
    }

    @Test func `are asked for also after messages of others have reached the handler`() throws {
        var stranger = try Socket(.dealer, in: guarded.context)
        try stranger.connect("inproc://zeromq.zap.01")
        for text in ["", "1.0", String(repeating: "x", count: 100_000)] { try deliver(text, by: &stranger) }
        try Multipart.send(["", "1.0", "7"].map { [UInt8]($0) }, to: stranger.raw)
        let answer = try Multipart.receive(from: stranger.raw, by: Message(), waits: true)
        #expect(answer?.prefix(4).map(\.text) == ["", "1.0", "7", "500"])
        try Multipart.send([[UInt8]](repeating: [], count: 100), to: stranger.raw)

        var server = try guarded.server(.pull)
        var client = try guarded.client(.push, try guarded.admitted())
        try client.connect(try server.bind("tcp://127.0.0.1:*"))
        try deliver("admitted", by: &client)
        #expect(try next(&server) == "admitted")
        #expect(guarded.admissions.asked.count == 1)
    }

    @Test func `leave no thread behind when their context ends`() async throws {
        final class Witness: Sendable {
            let end: AsyncStream<Void>.Continuation
            init(_ end: AsyncStream<Void>.Continuation) { self.end = end }
            deinit { end.finish() }
        }
        let (released, end) = AsyncStream.makeStream(of: Void.self)
        func openAndClose() throws {
            let witness = Witness(end)
            let context = try ZMQContext(authenticator: { _ in withExtendedLifetime(witness) { .admit() } })
            var options = SocketOptions()
            options.security = .server(secretKey: guarded.keys.secretKey, domain: "loop")
            var server = try Socket(.pull, in: context, options: options)
            var client = try guarded.client(.push, try KeyPair())
            try client.connect(try server.bind("tcp://127.0.0.1:*"))
            try deliver("x", by: &client)
            #expect(try next(&server) == "x")
        }
        try openAndClose()
        // Ends when the thread has let go of the authenticator.
        for await _ in released {}
    }
}

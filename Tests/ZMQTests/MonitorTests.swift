import Glibc
import LoopKeys
import Testing

@testable import ZMQ

@Suite struct `ZMQ socket monitor` {
    private let guarded: Guarded

    init() throws { guarded = try Guarded() }

    @Test func `tells of connections that are made, and that end`() throws {
        var pull = try Socket(.pull, in: guarded.context)
        var monitor = try SocketMonitor(pull)
        let endpoint = try pull.bind("tcp://127.0.0.1:*")
        let listening = try next(&monitor)
        #expect(listening == .listening(descriptor: listening.descriptor ?? -1))
        let foreign: ForeignPeer? = try ForeignPeer(endpoint)
        foreign?.greet(as: "PUSH")
        foreign?.send(["hello"])
        let accepted = try next(&monitor)
        let descriptor = try #require(accepted.descriptor)
        #expect(accepted == .accepted(descriptor: descriptor))
        #expect(try next(&monitor) == .handshakeSucceeded)
        var message = Message()
        #expect(try next(&pull, into: &message) == "hello")
        #expect(message.peerDescriptor == descriptor)
        foreign?.hangUp()
        #expect(try next(&monitor) == .disconnected(descriptor: descriptor))
        #expect(try monitor.next() == nil)
    }

    @Test(arguments: [
        ("tcp://no.such.interface:1", ENODEV), ("tcp://192.0.2.1:1", EADDRNOTAVAIL), ("tcp://[::1]:x", EINVAL),
        ("ipc://@loop-monitor-taken", EADDRINUSE),
    ])
    func `leaves the reason why a bind failed`(endpoint: String, code: Int32) throws {
        var first = try Socket(.pull, in: guarded.context)
        if code == EADDRINUSE { try first.bind(endpoint) }
        var pull = try Socket(.pull, in: guarded.context)
        let monitor = try SocketMonitor(pull)
        let error = #expect(throws: ZMQError.self) { try pull.bind(endpoint) }
        #expect(error?.code == code)
        _ = consume monitor
    }

    @Test func `tells that a subscriber that takes nothing was dropped, and others hear on`() throws {
        var options = SocketOptions()
        options.stalledLimit = .milliseconds(500)
        var publisher = try Socket(.xpub, in: guarded.context, options: options)
        let endpoint = try publisher.bind("tcp://127.0.0.1:*")
        var subscriber = try Socket(.sub, in: guarded.outside)
        try subscriber.connect(endpoint)
        try subscriber.subscribe([])
        #expect(try next(&publisher) == "\u{1}")
        var monitor = try SocketMonitor(publisher)
        let foreign = try ForeignPeer(endpoint)
        foreign.greet(as: "SUB")
        foreign.send(["\u{1}x"])
        let accepted = try #require(try next(&monitor).descriptor)
        #expect(try next(&monitor) == .handshakeSucceeded)
        #expect(try next(&publisher) == "\u{1}x")
        // More than the buffers of the system take.
        let large = [UInt8]("x".utf8) + [UInt8](repeating: 0, count: 1 << 20)
        for _ in 0..<32 { #expect(try publisher.send(large) == .sent) }
        #expect(try next(&monitor) == .disconnected(descriptor: accepted))
        var message = Message()
        for _ in 0..<32 {
            _ = try next(&subscriber, into: &message)
            #expect(message.count == large.count)
        }
    }

    @Test func `tells both sides that a key is not admitted, and the client does not try again`() throws {
        var server = try guarded.server(.pull)
        var serverMonitor = try SocketMonitor(server)
        var client = try guarded.client(.push, try KeyPair())
        var clientMonitor = try SocketMonitor(client)
        try client.connect(try server.bind("tcp://127.0.0.1:*"))
        #expect(try nextFailure(&serverMonitor) == .notAdmitted(status: 400))
        #expect(try nextFailure(&clientMonitor) == .notAdmitted(status: 400))
        let end = try next(&clientMonitor)
        #expect(end == .disconnected(descriptor: end.descriptor ?? -1))
        #expect(try clientMonitor.next() == nil)
    }

    @Test func `tells a client that its server key is wrong by the end of the connection`() throws {
        var server = try guarded.server(.pull)
        var serverMonitor = try SocketMonitor(server)
        var client = try guarded.client(.push, try guarded.admitted(), of: try KeyPair().publicKey)
        var clientMonitor = try SocketMonitor(client)
        try client.connect(try server.bind("tcp://127.0.0.1:*"))
        #expect(try nextFailure(&serverMonitor) == .protocolError(code: 0x1100_0001))
        #expect(try nextFailure(&clientMonitor) == .noDetail(code: EPIPE))
    }

    @Test func `may end before its socket, which goes on, and after it`() throws {
        var pull = try Socket(.pull, in: guarded.context)
        let endpoint = try pull.bind("tcp://127.0.0.1:*")
        for _ in 0..<3 {
            let monitor = try SocketMonitor(pull)
            _ = consume monitor
            var push = try Socket(.push, in: guarded.outside)
            try push.connect(endpoint)
            try deliver("x", by: &push)
            #expect(try next(&pull) == "x")
        }
        func watchAndClose() throws -> SocketMonitor {
            try SocketMonitor(try Socket(.pull, in: guarded.context))
        }
        var monitor = try watchAndClose()
        #expect(try next(&monitor) == .monitorStopped)
    }

    @Test func `keeps what is not read, and holds up no connection meanwhile`() throws {
        var pull = try Socket(.pull, in: guarded.context)
        var monitor = try SocketMonitor(pull)
        let endpoint = try pull.bind("tcp://127.0.0.1:*")
        // More events than libzmq keeps by itself.
        try comeAndGo(1500, endpoint)
        var push = try Socket(.push, in: guarded.context)
        try push.connect(endpoint)
        try deliver("still served", by: &push)
        #expect(try next(&pull) == "still served")
        var accepted = 0
        while let event = try monitor.next() {
            if case .accepted = event { accepted += 1 }
        }
        #expect(accepted == 1501)
    }

    @Test func `may end unread, when libzmq waits for it, and its socket goes on`() throws {
        var pull = try Socket(.pull, in: guarded.context)
        let monitor = try SocketMonitor(pull, eventsMax: 1)
        let endpoint = try pull.bind("tcp://127.0.0.1:*")
        // 2 or 3 events of each: more than have space, and fewer than fill it again.
        try comeAndGo(600, endpoint)
        _ = consume monitor
        var push = try Socket(.push, in: guarded.outside)
        try push.connect(endpoint)
        try deliver("still served", by: &push)
        #expect(try next(&pull) == "still served")
    }

    /// Each is accepted and disconnected.
    private func comeAndGo(_ count: Int, _ endpoint: String) throws {
        for _ in 0..<count {
            let foreign = try ForeignPeer(endpoint)
            foreign.hangUp()
        }
    }

    @Test(arguments: [
        [], [[], []], [[1, 0, 0, 0, 0, 0]], [[1, 0, 0, 0, 0], []], [[1, 0, 0, 0, 0, 0, 0], []],
        [[1, 0, 0, 0, 0, 0], [], []],
    ])
    func `takes nothing for an event that is none`(frames: [[UInt8]]) {
        #expect(SocketEvent(frames) == nil)
    }

    @Test func `knows each event by its number`() {
        #expect(SocketEvent(0x0001, 9) == .connected)
        #expect(SocketEvent(0x0002, 115) == .other)
        #expect(SocketEvent(0x0004, 250) == .connectRetried)
        #expect(SocketEvent(0x0040, 24) == .acceptFailed)
        #expect(SocketEvent(0x0080, 7) == .closed(descriptor: 7))
        #expect(SocketEvent(0x0100, 9) == .other)
        #expect(SocketEvent(0x4000, 500) == .handshakeFailed(.notAdmitted(status: 500)))
        #expect(SocketEvent(0x8000, -1) == .other)
        #expect(SocketEvent([[0x20, 0, 1, 2, 0, 0], [UInt8]("tcp://x")]) == .accepted(descriptor: 513))
    }
}

extension SocketEvent {
    /// The descriptor that was opened or closed, or nil.
    fileprivate var descriptor: Int32? {
        switch self {
        case .listening(let descriptor), .accepted(let descriptor), .closed(let descriptor),
            .disconnected(let descriptor):
            descriptor
        default: nil
        }
    }
}

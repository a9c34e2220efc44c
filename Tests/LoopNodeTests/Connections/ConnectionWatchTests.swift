import Glibc
import Testing
import ZMQ

@testable import Linux
@testable import LoopNode

@Suite struct `The watch of connections` {
    /// A listener of the system on loopback.
    private final class Listener {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var port: UInt16 { Sockets.port(of: descriptor) }
        var address: Set<Connections.LocalAddress> { [.port(port)] }

        init() throws {
            try Sockets.bind(descriptor, host: "127.0.0.1", port: 0)
            try #require(listen(descriptor, 8) == 0)
        }

        deinit { close(descriptor) }

        /// Both ends of a new connection.
        func connection() throws -> Pair {
            let peer = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            try Sockets.connect(peer, host: "127.0.0.1", port: port)
            return Pair(peer: peer, own: try #require(Sockets.accept(descriptor)))
        }

        /// Whether a peer can connect within some milliseconds.
        func isReachable(within milliseconds: Int32) -> Bool {
            let peer = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            defer { close(peer) }
            try? Sockets.connect(peer, host: "127.0.0.1", port: port)
            var items = [Poll.item(peer, POLLOUT)]
            return Poll.wait(&items, milliseconds: milliseconds) == 1
        }
    }

    private final class Pair {
        let peer, own: Int32

        init(peer: Int32, own: Int32) {
            self.peer = peer
            self.own = own
        }

        deinit {
            close(peer)
            close(own)
        }

        /// The peer sends, and the owner of this side reads, what has no end.
        func bring(_ count: Int) throws {
            _ = try SystemCall.send([UInt8](repeating: 1, count: count)[...], to: peer)
            var buffer = [UInt8](repeating: 0, count: count)
            var rest = count
            while rest > 0 { rest -= try SystemCall.read(from: own, into: &buffer) }
        }

        /// Whether this side was ended.
        var hasEnded: Bool {
            var items = [Poll.item(peer, POLLIN)]
            return Poll.wait(&items, milliseconds: 0) == 1
        }
    }

    private let router, collector: Listener
    private let watch: ConnectionWatch

    init() throws {
        var limits = ConnectionLimits()
        limits.inputBytesMax = 1000
        watch = ConnectionWatch(limits: limits)
        router = try Listener()
        collector = try Listener()
        watch.listen(at: [.router: router.address, .collector: collector.address])
    }

    private func tell(_ event: SocketEvent, of socket: ReducerSocket) { watch.take(event, of: socket) }

    @Test func `asks the system whose a descriptor is when another socket's event comes late`() throws {
        let one = try collector.connection()
        tell(.accepted(descriptor: one.own), of: .collector)
        // The router had a connection of this number before, and tells of it now.
        tell(.accepted(descriptor: one.own), of: .router)
        tell(.disconnected(descriptor: one.own), of: .router)
        #expect(watch.room.count == 1)
        try one.bring(2000)
        _ = watch.pulse()
        #expect(one.hasEnded)
    }

    @Test func `counts an end only if nothing that was said could be read`() throws {
        for hasSpoken in [true, false] {
            let one = try router.connection()
            let id = ConnectionTable.ID(socket: .router, descriptor: one.own)
            tell(.accepted(descriptor: one.own), of: .router)
            if hasSpoken { watch.hear(id, nil, byteCount: 10) }
            tell(.disconnected(descriptor: one.own), of: .router)
            #expect(watch.takeCounts() == (hasSpoken ? [:] : [.disconnected: 1]))
        }
        // A sender may have nothing to send.
        let one = try collector.connection()
        tell(.accepted(descriptor: one.own), of: .collector)
        tell(.disconnected(descriptor: one.own), of: .collector)
        #expect(watch.takeCounts() == [:])
    }

    @Test func `finds connections of which no event told`() throws {
        let one = try router.connection()
        #expect(watch.room.count == 0)
        _ = watch.pulse()
        #expect(watch.room.count == 1)
        try one.bring(2000)
        _ = watch.pulse()
        #expect(one.hasEnded)
    }

    @Test func `forgets a connection of whose end no event told`() throws {
        var one: Pair? = try router.connection()
        tell(.accepted(descriptor: try #require(one).own), of: .router)
        #expect(watch.room.count == 1)
        one = nil
        _ = watch.pulse()
        #expect(watch.room.count == 0)
    }

    @Test func `ends a connection without reading on what it has sent`() throws {
        let one = try router.connection()
        tell(.accepted(descriptor: one.own), of: .router)
        try one.bring(2000)
        _ = try SystemCall.send([UInt8](repeating: 1, count: 50_000)[...], to: one.peer)
        _ = watch.pulse()
        var buffer = [UInt8](repeating: 0, count: 100)
        #expect(try SystemCall.read(from: one.own, into: &buffer) == 0)
    }

    @Test func `puts off new connections while there are too many in a second, and takes them again`() throws {
        var limits = ConnectionLimits()
        limits.connectionsPerSecond = 8
        let watch = ConnectionWatch(limits: limits)
        watch.listen(at: [.router: router.address])
        watch.take(.listening(descriptor: router.descriptor), of: .router)
        let one = try router.connection()
        #expect(router.isReachable(within: 2000))
        watch.take(.accepted(descriptor: one.own), of: .router)
        watch.take(.accepted(descriptor: one.own), of: .router)
        #expect(!router.isReachable(within: 50))
        #expect(watch.takeCounts() == [.connectionsPutOff: 1])
        try one.bring(10)
        while !router.isReachable(within: 1) { _ = watch.pulse() }
    }
}

import Glibc
import Linux
import LoopNode
import Testing

@testable import LoopChaos
@testable import LoopCore

@Suite struct `A pipe of the proxy` {
    private func time(_ milliseconds: Int) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

    @Test func `lets nothing leave before its time, nor out of order`() {
        var pipe = ProxyPipe()
        pipe.take([1, 2, 3], at: time(0), delay: .milliseconds(50))
        pipe.take([4], at: time(10), delay: .zero)
        #expect(pipe.due(at: time(49)) == nil)
        #expect(pipe.nextAt == time(50))
        #expect(pipe.due(at: time(50)) == [1, 2, 3])
        pipe.sent(2)
        #expect(pipe.due(at: time(50)) == [3])
        pipe.sent(1)
        #expect(pipe.due(at: time(50)) == [4])
        pipe.sent(1)
        #expect(pipe.due(at: time(99)) == nil && pipe.nextAt == nil && pipe.byteCount == 0)
    }

    @Test func `is full at its limit, and done when the last byte after the end has left`() {
        var pipe = ProxyPipe()
        pipe.take([UInt8](repeating: 0, count: ProxyPipe.bytesMax)[...], at: time(0), delay: .zero)
        #expect(!pipe.hasSpace)
        pipe.sent(1)
        #expect(pipe.hasSpace)
        pipe.end()
        #expect(!pipe.hasSpace && !pipe.isDone)
        pipe.sent(ProxyPipe.bytesMax - 1)
        #expect(pipe.isDone)
    }
}

/// The real thing on loopback: this test is the peer and the reducer.
@Suite(.timeLimit(.minutes(5))) struct `The proxy` {
    /// A peer and a reducer with a proxy between them; every call waits for what it says.
    private final class Line {
        let proxy: FaultProxy
        private let listener: Int32
        var peer: Int32 = -1
        var reducer: Int32 = -1
        private let target = Target.worker(2)

        init() async throws {
            listener = try SocketAddress(host: "127.0.0.1", port: 0).listen()
            proxy = try await FaultProxy(links: [
                .init(
                    target: target, listen: SocketAddress(host: "127.0.0.1", port: 0),
                    upstream: SocketAddress(host: "127.0.0.1", port: Sockets.port(of: listener)))
            ])
            try connect()
        }

        func connect() throws {
            peer = try SocketAddress(host: "127.0.0.1", port: proxy.ports[0]).connect()
            Self.wait(listener, POLLIN)
            reducer = try #require(SocketAddress.accept(listener))
            Self.wait(peer, POLLOUT)
        }

        deinit { for descriptor in [listener, peer, reducer] { close(descriptor) } }

        func begin(_ trouble: Fault.Trouble) { proxy.begin(trouble, at: target) }
        func end(_ trouble: Fault.Trouble) { proxy.end(trouble, at: target) }

        /// - Returns: whether there is something within the limit.
        @discardableResult
        static func wait(_ descriptor: Int32, _ events: Int32, milliseconds: Int32 = 20_000) -> Bool {
            var item = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            return poll(&item, 1, milliseconds) > 0
        }

        static func write(_ bytes: [UInt8], to descriptor: Int32) {
            #expect(send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
        }

        /// Reads until a number of bytes are there, or the end or a broken connection.
        static func read(_ count: Int, from descriptor: Int32) -> (bytes: [UInt8], isAtEnd: Bool) {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while bytes.count < count {
                guard wait(descriptor, POLLIN) else { return (bytes, false) }
                let got = Glibc.read(descriptor, &buffer, min(buffer.count, count - bytes.count))
                if got <= 0 { return (bytes, true) }
                bytes += buffer[..<got]
            }
            return (bytes, false)
        }
    }

    @Test func `carries both ways, and the end of either`() async throws {
        let line = try await Line()
        Line.write([1, 2, 3], to: line.peer)
        #expect(Line.read(3, from: line.reducer).bytes == [1, 2, 3])
        Line.write([4, 5], to: line.reducer)
        #expect(Line.read(2, from: line.peer).bytes == [4, 5])
        shutdown(line.peer, Int32(SHUT_WR))
        #expect(Line.read(1, from: line.reducer).isAtEnd)
        Line.write([6], to: line.reducer)
        #expect(Line.read(1, from: line.peer).bytes == [6])
        #expect(line.proxy.counts == .init(connections: 1, bytes: 6))
        await line.proxy.stop()
    }

    @Test func `delays, and keeps the order`() async throws {
        let line = try await Line()
        line.begin(.delay(.milliseconds(150)))
        // What is sent after an answer is sent after the order was taken.
        let begin = SystemClock.monotonic
        Line.write([1, 2], to: line.peer)
        #expect(Line.read(2, from: line.reducer).bytes == [1, 2])
        let first = SystemClock.monotonic - begin
        line.end(.delay(.milliseconds(150)))
        Line.write([3], to: line.peer)
        #expect(Line.read(1, from: line.reducer).bytes == [3])
        #expect(first >= .milliseconds(150))
        #expect(line.proxy.counts.delays == 1)
        await line.proxy.stop()
    }

    @Test(arguments: Direction.allCases)
    func `stalls one way or both, and goes on`(direction: Direction) async throws {
        let line = try await Line()
        line.begin(.stall(direction))
        Line.write([1], to: line.peer)
        Line.write([2], to: line.reducer)
        let waits: Int32 = 150
        #expect(Line.wait(line.reducer, POLLIN, milliseconds: waits) == (direction == .toPeer))
        #expect(Line.wait(line.peer, POLLIN, milliseconds: waits) == (direction == .toReducer))
        line.end(.stall(direction))
        #expect(Line.read(1, from: line.reducer).bytes == [1])
        #expect(Line.read(1, from: line.peer).bytes == [2])
        #expect(line.proxy.counts.stalls == 1)
        await line.proxy.stop()
    }

    @Test func `cuts in the middle of a message, once, and takes new connections`() async throws {
        let line = try await Line()
        line.begin(.cut)
        let message = [UInt8](repeating: 7, count: 1000)
        Line.write(message, to: line.peer)
        let (bytes, isAtEnd) = Line.read(1000, from: line.reducer)
        #expect(isAtEnd)
        #expect(bytes.count > 0 && bytes.count < 1000)
        #expect(Line.read(1, from: line.peer).isAtEnd)
        #expect(line.proxy.counts.cuts == 1)
        close(line.peer)
        close(line.reducer)
        try line.connect()
        Line.write(message, to: line.peer)
        #expect(Line.read(1000, from: line.reducer).bytes == message)
        #expect(line.proxy.counts.cuts == 1)
        await line.proxy.stop()
    }

    @Test func `ends a peer's connection if the port has no listener`() async throws {
        let listener = try SocketAddress(host: "127.0.0.1", port: 0).listen()
        let port = Sockets.port(of: listener)
        close(listener)
        let proxy = try await FaultProxy(links: [
            .init(
                target: .client(1), listen: SocketAddress(host: "127.0.0.1", port: 0),
                upstream: SocketAddress(host: "127.0.0.1", port: port))
        ])
        let peer = try SocketAddress(host: "127.0.0.1", port: proxy.ports[0]).connect()
        defer { close(peer) }
        #expect(Line.read(1, from: peer).isAtEnd)
        await proxy.stop()
    }

    @Test func `what a packet filter has dropped is counted from its listing`() {
        let listing = [
            "table inet loss {", "\tchain input {", "\t\tiifname \"eth0\" counter packets 12 bytes 624 drop", "\t}",
            "\t\toifname \"eth0\" counter packets 30 bytes 5 drop",
        ]
        #expect(FaultNetwork.droppedPackets(in: listing) == 42)
        #expect(FaultNetwork.droppedPackets(in: ["table inet loss {", "packets", "}"]) == 0)
    }
}

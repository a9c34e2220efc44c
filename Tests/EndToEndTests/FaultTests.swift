import Glibc
import LoopNode
import LoopWire
import Testing
import ZMQ

/// Real processes, sockets, kills and freezes: the report stays the same.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `The link checker over processes` {
    @Test func `killing, freezing, stopping and adding workers changes nothing in the report`() async throws {
        let site = try CheckedSite(pages: 360)

        let calm = try ProcessCluster(site: site.url)
        for name in ["a", "b", "c"] { try calm.startWorker(name) }
        let expected = try await calm.report()
        #expect(expected.exit == .exited(1))
        #expect(expected.json.contains("missing0.html"))
        #expect(expected.json.contains("no such fragment"))

        // Two pages at a time each, and one answer: all three have joined, and each has something to do.
        site.server.hold(after: 1)
        let rough = try ProcessCluster(site: site.url)
        let killed = try rough.startWorker("killed", capacity: 2)
        let frozen = try rough.startWorker("frozen", capacity: 2)
        let stopped = try rough.startWorker("stopped", capacity: 2)
        _ = try await rough.status { status in
            ["killed", "frozen", "stopped"].allSatisfy { name in
                status.peers.contains { $0.name == name && $0.leases > 0 }
            }
        }
        killed.kill()
        frozen.send(SIGSTOP)
        site.server.hold(after: 100)
        stopped.terminate()
        #expect(await stopped.wait() == .exited(0))
        try rough.startWorker("late")
        _ = try await rough.status { ($0.counters["leaseExpired"] ?? 0) >= 2 }
        site.server.release()
        frozen.send(SIGCONT)
        try rough.startWorker("later")
        let got = try await rough.report()
        #expect(got.exit == expected.exit)
        #expect(got.json == expected.json)
    }

    @Test func `G3 G4 a reducer that is killed again and again goes on from its journal`() async throws {
        let site = try CheckedSite(pages: 240)
        let calm = try ProcessCluster(site: site.url)
        try calm.startWorker("a", capacity: 8)
        let expected = try await calm.report()
        let requests = site.server.requests.values.reduce(0, +)

        let rough = try ProcessCluster(site: site.url)
        let worker = try rough.startWorker("a", capacity: 8)
        var seq: UInt64 = 0
        for life in 1...5 {
            site.server.hold(after: 20)
            seq = try await rough.status { $0.epoch == UInt64(life) && $0.seq > seq + 10 }.seq
            rough.reducer.kill()
            #expect(await rough.reducer.wait() == .signaled(SIGKILL))
            try rough.startReducer()
        }
        site.server.release()
        let got = try await rough.report()
        #expect(got.exit == expected.exit)
        #expect(got.json == expected.json)
        #expect(worker.status == nil || worker.status == .exited(0) || worker.status == .signaled(SIGKILL))
        // Effects that ran went on: nothing was fetched a second time.
        #expect(site.server.requests.values.reduce(0, +) == 2 * requests)
    }

    @Test func `a thousand connections that come while a reducer stands still are not dropped`() async throws {
        let site = try CheckedSite(pages: 12)
        let cluster = try ProcessCluster(site: site.url)
        _ = try await cluster.status { $0.epoch == 1 }
        let port = try #require(UInt16(cluster.address.description.split(separator: ":").last ?? ""))
        cluster.reducer.send(SIGSTOP)
        // The system tries a dropped one again after 1 s, 3 s, 7 s and so on, and it is dropped again.
        for offset in UInt16(0)...2 {
            #expect(WaitingConnections(1000, port: port + offset).standing(within: 5) == 1000)
        }
        cluster.reducer.send(SIGCONT)
        try cluster.startWorker("a")
        _ = try await cluster.report()
    }

    @Test func `G11 garbage on all three sockets changes nothing, and is counted`() async throws {
        let site = try CheckedSite(pages: 240)
        let calm = try ProcessCluster(site: site.url)
        try calm.startWorker("a", capacity: 8)
        let expected = try await calm.report()

        site.server.hold(after: 20)
        let noisy = try ProcessCluster(site: site.url)
        try noisy.startWorker("a", capacity: 8)
        _ = try await noisy.status { $0.peers.contains { $0.completed > 0 } }
        let sent = try throwGarbage(at: noisy.address)
        #expect(sent > 100)
        let status = try await noisy.status { ($0.counters["malformedFrame"] ?? 0) > 50 }
        #expect((status.counters["malformedFrame"] ?? 0) > 50)
        site.server.release()
        let got = try await noisy.report()
        #expect(got.exit == expected.exit)
        #expect(got.json == expected.json)
    }

    /// Random bytes, truncated frames, another protocol, oversized messages: through ZeroMQ and as plain TCP.
    private func throwGarbage(at address: ReducerAddress) throws -> Int {
        let context = try ZMQContext()
        let port = UInt16(address.description.split(separator: ":").last!)!
        var sent = 0
        var random = SystemRandomNumberGenerator()
        var options = SocketOptions()
        options.messageBytesMax = 64 << 20
        let frame = ToReducer.claim(SessionID(1), Epoch(number: 1, nonce: 2), []).bytes(loop: LoopID(name: "linkcheck"))
        for (kind, offset) in [(SocketKind.dealer, UInt16(0)), (.sub, 1), (.push, 2)] {
            var socket = try Socket(kind, in: context, options: options)
            try socket.connect("tcp://127.0.0.1:\(port + offset)")
            if kind == .sub {
                try socket.subscribe([UInt8](repeating: 0xff, count: 200))
                continue
            }
            for size in 0..<100 {
                let bytes = (0..<size * 3).map { _ in UInt8.random(in: 0...255, using: &random) }
                if try socket.send(bytes) == .sent { sent += 1 }
                if try socket.send(Array(frame.prefix(size % frame.count))) == .sent { sent += 1 }
            }
            _ = try socket.send([UInt8](repeating: 0x4c, count: 8 << 20))
            var polls = PollSet()
            polls.add(socket, for: .readable)
            try polls.wait(milliseconds: 300)
        }
        for offset in UInt16(0)...2 { plainBytes(to: port + offset) }
        return sent
    }

    private func plainBytes(to port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        let connected = withLoopback(port) { connect(descriptor, $0, $1) }
        guard connected == 0 else { return }
        let request = Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        _ = request.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
}

import Glibc
import LoopCollections
import LoopCore
import TestFolders
import Testing

@testable import LoopNode

/// The socket of a service manager, which collects what it is told.
private final class NoticeSocket: Sendable {
    let path: String
    private let folder = TestFolder()
    private let descriptor: Int32

    init(_ path: String? = nil) throws {
        let path = path ?? "\(folder.path)/notify"
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(isBound == 0)
    }

    deinit { close(descriptor) }

    /// Waits for the next message, and returns its lines.
    func next() -> [String] {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Waits until it is told that the node stops.
    func waitForStop() { while next() != ["STOPPING=1"] {} }

    /// Whether a message comes within a time.
    func hears(within milliseconds: Int32) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, milliseconds) > 0
    }

    func manager(watchdog: Duration? = nil) throws -> ServiceManager {
        var environment = ["NOTIFY_SOCKET": path]
        if let watchdog { environment["WATCHDOG_USEC"] = "\(watchdog / .microseconds(1))".replacing(".0", with: "") }
        return try #require(ServiceManager(environment: environment))
    }
}

@Suite(.timeLimit(.minutes(5))) struct `A service manager` {
    @Test func `is told that a reducer has started, how it is, and again for its watchdog`() async throws {
        let (socket, address) = (try NoticeSocket(), ipcAddress())
        var configuration = ReducerNodeConfiguration(bind: try BindAddress(address), journal: .memory, log: .silent)
        configuration.serviceManager = try socket.manager(watchdog: .milliseconds(60))
        let node = try ReducerNode(Jobs(ends: false), configuration: configuration)
        let run = Task { try await node.run() }
        let first = try await NodeThread.run("notices") { socket.next() }
        #expect(Array(first.prefix(2)) == ["READY=1", "WATCHDOG=1"])
        let leads = "STATUS=it leads at seq 0, in epoch 1"
        var notices = first
        while notices.last != leads { notices = try await NodeThread.run("notices") { socket.next() } }
        // What does not change is not said again.
        let next = try await NodeThread.run("notices") { socket.next() }
        #expect(next == ["READY=1", "WATCHDOG=1"])
        node.stop()
        try await NodeThread.run("notices") { socket.waitForStop() }
        _ = try await run.value
    }

    @Test func `is told that a worker has started, though there is no reducer yet`() async throws {
        let (socket, address) = (try NoticeSocket(), ipcAddress())
        var configuration = EffectNodeConfiguration(reducer: address, name: "w", log: .silent)
        configuration.serviceManager = try socket.manager()
        let worker = try EffectNode(Jobs(ends: false), configuration: configuration)
        let run = Task { try await worker.run() }
        let first = try await NodeThread.run("notices") { socket.next() }
        #expect(first.first == "READY=1")
        #expect(first.last?.hasPrefix("STATUS=") == true && first.last?.contains("\(address)") == true, "\(first)")
        worker.stop()
        try await NodeThread.run("notices") { socket.waitForStop() }
        _ = try await run.value
    }

    @Test func `is told that a reducer stops because its loop has ended`() async throws {
        let (socket, address) = (try NoticeSocket(), ipcAddress())
        var configuration = ReducerNodeConfiguration(bind: try BindAddress(address), journal: .memory, log: .silent)
        configuration.serviceManager = try socket.manager()
        let node = try ReducerNode(Jobs(), configuration: configuration)
        let run = Task { try await node.run() }
        let worker = try EffectNode(
            Jobs(), configuration: EffectNodeConfiguration(reducer: address, name: "w", log: .silent))
        let work = Task { try await worker.run() }
        let remote = try RemoteLoop(Jobs.self, reducer: address, log: .silent)
        _ = try await remote.send(.add(1))
        try await NodeThread.run("notices") { socket.waitForStop() }
        _ = try await (run.value, work.value)
        await remote.close()
    }

    /// A node whose thread answers as long as it is told to.
    private final class Source: HealthSource {
        let isStuck = Locked(false)

        final class Inquiry: HealthInquiry {
            let source: Source
            init(_ source: Source) { self.source = source }
            func report() -> HealthReport? {
                source.isStuck.withLock { $0 }
                    ? nil
                    : HealthReport(
                        isLive: .init(isTrue: true, text: ""), isReady: .init(isTrue: false, text: "two\nlines"),
                        metrics: [])
            }
            func reportWithoutAnswer() -> HealthReport { preconditionFailure("nobody asks for it") }
        }

        func ask() -> any HealthInquiry { Inquiry(self) }
    }

    @Test func `hears nothing of a node whose thread is stuck, until it answers again`() async throws {
        let (socket, source) = (try NoticeSocket(), Source())
        let notice = try ServiceNotice(
            socket.manager(watchdog: .milliseconds(30)), source, NodeLog(name: "node", LogCollector().handler))
        #expect(socket.next() == ["READY=1", "WATCHDOG=1", "STATUS=two lines"])
        source.isStuck.withLock { $0 = true }
        while socket.hears(within: 500) { _ = socket.next() }
        source.isStuck.withLock { $0 = false }
        let next = try await NodeThread.run("notices") { socket.next() }
        #expect(next == ["READY=1", "WATCHDOG=1"])
        withExtendedLifetime(notice) {}
    }

    @Test func `that has gone is named in the log once, and told again when it is back`() async throws {
        let (log, folder) = (LogCollector(), TestFolder())
        let path = "\(folder.path)/notify"
        let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "900000"]))
        let notice = try ServiceNotice(manager, Source(), NodeLog(name: "node", log.handler))
        while log.lines.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        #expect(log.lines.first?.contains("the service manager cannot be told anything") == true, "\(log.lines)")
        let socket = try NoticeSocket(path)
        let first = try await NodeThread.run("notices") { socket.next() }
        #expect(first == ["READY=1", "WATCHDOG=1", "STATUS=two lines"])
        #expect(log.lines.filter { $0.contains("No such file") }.count == 1)
        withExtendedLifetime(notice) {}
    }

    @Test func `is there only if it says so, and its watchdog only for the process that it names`() {
        #expect(ServiceManager(environment: [:]) == nil)
        #expect(ServiceManager(environment: ["NOTIFY_SOCKET": "notify"]) == nil)
        var environment = ["NOTIFY_SOCKET": "@notify", "WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "7"]
        #expect(ServiceManager(environment: environment, processID: 7)?.interval == .seconds(1))
        #expect(ServiceManager(environment: environment, processID: 8)?.interval == .seconds(2))
        environment["WATCHDOG_PID"] = nil
        #expect(ServiceManager(environment: environment)?.watchdog == .seconds(3))
        environment["WATCHDOG_USEC"] = "soon"
        #expect(ServiceManager(environment: environment)?.watchdog == nil)
    }
}

import Glibc
import LoopCollections
import TestFolders
import Testing

/// Servers that end while they are in the middle of something.
@Suite(.timeLimit(.minutes(5))) struct `A server that stops` {
    /// libmicrohttpd 0.9.75 ends the process where one thread refuses a malformed request while another stops the daemon.
    @Test func `may be refusing a request at that moment`() async {
        await #expect(processExitsWith: .success) {
            let folder = TestFolder()
            let port = Locked<UInt16>(0)
            let server = try ScriptedSite(folder: folder.path) { _, _ in
                // The request goes on when the server is being stopped for certain.
                while (try? Connection(port: port.withLock { $0 })) != nil { sched_yield() }
                return nil
            }
            port.withLock { [number = server.port] in $0 = number }
            let connection = try Connection(port: server.port)
            connection.send("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nno length\r\n")
            while server.requestCount == 0 { sched_yield() }
            server.stop()
            #expect(connection.receive().status != 200)
        }
    }

    @Test func `may be told so by a request of its own`() throws {
        let folder = TestFolder()
        let running = Locked<ScriptedSite?>(nil)
        let server = try ScriptedSite(folder: folder.path) { _, _ in
            running.withLock { $0.take() }?.stop()
            return nil
        }
        running.withLock { $0 = server }
        let connection = try Connection(port: server.port)
        connection.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = connection.receive()
        #expect(throws: ConnectionRefused.self) { try Connection(port: server.port) }
    }

    @Test func `leaves no client waiting, however long its request would have`() throws {
        let folder = TestFolder()
        let server = try ScriptedSite(folder: folder.path, latency: .seconds(3600))
        let connections = try (0..<30).map { _ in try Connection(port: server.port) }
        for connection in connections { connection.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") }
        while server.requestCount < 30 { sched_yield() }
        server.stop()
        for connection in connections { #expect(connection.receive().status == 0) }
    }
}

@Suite struct `The thread of a server` {
    /// A fault whose signal is blocked ends the process without a word of where it was.
    @Test func `gets no signals but those of its own faults`() throws {
        let folder = TestFolder()
        let masks = Locked<[sigset_t]>([])
        let server = try ScriptedSite(folder: folder.path) { _, _ in
            var mask = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &mask)
            masks.withLock { [mask] in $0.append(mask) }
            return nil
        }
        _ = try ask(server, "GET / HTTP/1.1")
        var mask = try #require(masks.withLock { $0 }.first)
        for signal in [SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGPIPE] { #expect(sigismember(&mask, signal) == 1) }
        for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT] { #expect(sigismember(&mask, fault) == 0) }
    }
}

import Foundation
import LoopCore
import LoopView
import TestFolders
import Testing

@testable import LoopApp

@Suite(.timeLimit(.minutes(5))) struct `View server` {
    private struct State: Sendable, Equatable {
        var count = 0
        var name = ""
    }

    private enum Event: Sendable {
        case add
        case rename(String)
        case submit
    }

    private static func store() -> Store<State, Event> {
        Store(
            initial: State(),
            reducer: { state, event in
                switch event {
                case .add: state.count += 1
                case .rename(let name): state.name = name
                case .submit: state.name += "!"
                }
            })
    }

    private struct Page: View {
        let store: Store<State, Event>

        var body: [Element] {
            Widget(viewModel: store) { context in
                Text("count \(context.count)")
                TextField(
                    "Name", text: context.binding(for: \.name, event: { .rename($0) }),
                    onSubmit: context.action(for: .submit))
                Button("Add", action: context.action(for: .add))
            }
        }
    }

    private let store = Self.store()

    private func server(_ change: (inout ViewServer.Options) -> Void = { _ in }) throws -> ViewServer {
        var options = ViewServer.Options()
        options.title = "T<&>"
        change(&options)
        return try ViewServer(Page(store: store), options: options)
    }

    private func get(_ server: ViewServer, _ path: String = "/", _ headers: String = "") throws -> Answer {
        let connection = try Connection(port: server.port)
        connection.send("GET \(path) HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\(headers)\r\n")
        return connection.receive()
    }

    private func post(
        _ server: ViewServer, _ body: String, _ headers: String = "Sec-Fetch-Site: same-origin\r\n"
    ) throws -> Answer {
        let connection = try Connection(port: server.port)
        connection.send(
            "POST / HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n"
                + body)
        return connection.receive()
    }

    @Test func `the page shows the state, and nothing foreign runs in it`() throws {
        let server = try server()
        store.send(event: .rename("<b>"))
        let page = try get(server)
        #expect(page.status == 200)
        #expect(page.headers["content-type"] == "text/html; charset=utf-8")
        #expect(page.body.contains("<title>T&lt;&amp;&gt;</title>"))
        #expect(page.body.contains("<p id=\"v/0\">count 0</p>"))
        #expect(page.body.contains("value=\"&lt;b&gt;\""))
        let policy = try #require(page.headers["content-security-policy"])
        #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"))
        #expect(!policy.contains("unsafe"))
        #expect(page.headers["cache-control"] == "no-store")
        #expect(page.headers["x-content-type-options"] == "nosniff")
        #expect(try get(server, "/loop.js").headers["content-type"] == "text/javascript; charset=utf-8")
        #expect(try get(server, "/loop.css").headers["content-type"] == "text/css; charset=utf-8")
        #expect(try get(server, "/other").status == 404)
        #expect(server.address == "http://127.0.0.1:\(server.port)/")
        server.stop()
        server.stop()
        #expect(throws: ConnectionRefused.self) { try get(server) }
    }

    @Test func `without a script the page is a form`() throws {
        let server = try server()
        let answer = try post(server, "press=%2F2&was%3A%2F1=&text%3A%2F1=Ann")
        #expect(answer.status == 303)
        #expect(answer.headers["location"] == "/")
        #expect(store.state == State(count: 1, name: "Ann"))
        // Edited on an old page, and not edited.
        _ = try post(server, "press=%2F2&was%3A%2F1=&text%3A%2F1=")
        #expect(store.state == State(count: 2, name: "Ann"))
        _ = try post(server, "press=&was%3A%2F1=Ann&text%3A%2F1=Bo")
        #expect(store.state == State(count: 2, name: "Bo!"))
        #expect(try get(server).body.contains("<p id=\"v/0\">count 2</p>"))
    }

    @Test func `the script's actions are done one by one`() throws {
        let server = try server()
        #expect(try post(server, "do=press&element=/2").status == 204)
        #expect(try post(server, "do=write&element=/1&text=x+y").status == 204)
        #expect(try post(server, "do=submit&element=/1").status == 204)
        #expect(store.state == State(count: 1, name: "x y!"))
        #expect(try post(server, "do=press&element=/9").status == 409)
        #expect(try post(server, "do=press&element=/0").status == 409)
        #expect(try post(server, "do=dance&element=/0").status == 400)
        #expect(store.state == State(count: 1, name: "x y!"))
    }

    @Test(arguments: [
        "", "Sec-Fetch-Site: cross-site\r\n", "Sec-Fetch-Site: same-site\r\n", "Origin: http://evil.org\r\n",
        "Origin: null\r\n", "Sec-Fetch-Site: cross-site\r\nOrigin: http://localhost\r\n",
    ])
    func `what another site's page posts does nothing`(headers: String) throws {
        let server = try server()
        #expect(try post(server, "do=press&element=/2", headers).status == 403)
        #expect(try post(server, "press=/2", headers).status == 403)
        #expect(store.state.count == 0)
    }

    @Test func `a page with the same origin may post where the browser says only that`() throws {
        let server = try server()
        #expect(try post(server, "do=press&element=/2", "Origin: http://localhost:\(server.port)\r\n").status == 204)
        #expect(try post(server, "do=press&element=/2", "Origin: http://localhost:1\r\n").status == 403)
        #expect(store.state.count == 1)
    }

    @Test(arguments: [Duration.zero, .seconds(600)])
    func `a session that no browser follows ends when it has been idle for long`(limit: Duration) {
        let cache = PageCache(isShared: false, pagesMax: 10, idleLimit: limit) {
            LivePage(Text("x"), tag: "t", framesPerSecond: 20)
        }
        #expect(cache.pageOrNew(nil) { "one" }?.session == "one")
        cache.endIdle()
        #expect((cache.page("one") == nil) == (limit == .zero))
    }

    @Test func `another name for this address is refused`() throws {
        let server = try server()
        for (method, path) in [("GET", "/"), ("GET", "/events"), ("POST", "/")] {
            let connection = try Connection(port: server.port)
            connection.send(
                "\(method) \(path) HTTP/1.1\r\nHost: evil.org:\(server.port)\r\nContent-Length: 0\r\n"
                    + "Sec-Fetch-Site: same-origin\r\n\r\n")
            #expect(connection.receive().status == 421)
        }
        let open = try self.server { $0.allowedHosts = ["evil.org"] }
        let connection = try Connection(port: open.port)
        connection.send("GET / HTTP/1.1\r\nHost: evil.org\r\n\r\n")
        #expect(connection.receive().status == 200)
    }

    @Test func `at all addresses, a name that anybody could lead here is refused`() throws {
        var options = ViewServer.Options()
        options.host = "0.0.0.0"
        let server = try ViewServer(Page(store: store), options: options)
        #expect(
            server.warning
                == "whoever can reach 0.0.0.0 port \(server.port) can see this page and press its buttons")
        for (name, status) in [
            ("127.0.0.1", 200), ("localhost", 200), ("10.0.0.7:\(server.port)", 200), ("[fe80::1]", 200),
            (ProcessInfo.processInfo.hostName, 200), ("evil.org", 421), ("evil.org:\(server.port)", 421),
        ] {
            let connection = try Connection(port: server.port)
            connection.send("GET / HTTP/1.1\r\nHost: \(name)\r\n\r\n")
            #expect(connection.receive().status == status, "\(name)")
        }
    }

    @Test func `on loopback there is nothing to warn of, and what is answered says what a browser may do with it`()
        throws
    {
        let server = try server()
        #expect(server.warning == nil)
        let expected = [
            "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                + "img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
            "x-content-type-options": "nosniff", "referrer-policy": "same-origin", "cache-control": "no-store",
            "cross-origin-opener-policy": "same-origin", "cross-origin-resource-policy": "same-origin",
        ]
        var answers = try ["/", "/loop.js", "/loop.css", "/other"].map { try get(server, $0) }
        answers.append(try post(server, "press=/2"))
        answers.append(try post(server, "press=/2", "Origin: http://evil.org\r\n"))
        for answer in answers { #expect(answer.headers.filter { expected[$0.key] != nil } == expected) }
    }

    @Test(arguments: ["Sec-Fetch-Site: cross-site\r\n", "Sec-Fetch-Site: same-site\r\n", "Origin: http://evil.org\r\n"])
    func `another site's page does not follow the state`(headers: String) throws {
        let server = try server()
        let answer = try get(server, "/events", headers)
        #expect(answer.status == 403)
        #expect(answer.body == "This was asked for by another site's page.\n")
    }

    @Test func `what is no request of a page is refused`() throws {
        let server = try server { $0.formBytesMax = 100 }
        #expect(try post(server, "do=write&element=/1&text=" + String(repeating: "x", count: 100)).status == 413)
        #expect(store.state.name == "")
        let connection = try Connection(port: server.port)
        connection.send("PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
        #expect(connection.receive().status == 405)
    }

    // MARK: Events

    @Test func `40 a page that follows gets the parts that change, and the latest at last`() async throws {
        let server = try server { $0.framesPerSecond = 1000 }
        let stream = try EventReader(server, from: Self.revision(try get(server).body))
        #expect(await stream.isConnected())
        for _ in 0..<500 { store.send(event: .add) }
        let events = await stream.events { $0.contains("count 500") }
        #expect(!events.contains { $0.contains("v/1") || $0.contains("Add") })
        #expect(events.count <= 500)
    }

    @Test func `40 a page that comes with an old revision gets everything`() async throws {
        let server = try server { $0.framesPerSecond = 1000 }
        store.send(event: .add)
        for revision in ["", "x-1", "%00"] {
            let stream = try EventReader(server, from: revision)
            #expect(await stream.events { $0.contains("count 1") }.first?.contains("[\"v\",") == true)
        }
        // By the header with which browsers come again.
        let again = try EventReader(server, from: "", "Last-Event-ID: y-2\r\n")
        #expect(await again.events { $0.contains("count 1") }.first?.contains("[\"v\",") == true)
    }

    @Test func `many browsers share one view`() async throws {
        let server = try server { $0.framesPerSecond = 1000 }
        let streams = try (0..<20).map { _ in try EventReader(server, from: "") }
        #expect(try post(server, "do=press&element=/2").status == 204)
        for stream in streams { #expect(await stream.events { $0.contains("count 1") }.last != nil) }
    }

    @Test func `a browser that is gone is forgotten`() async throws {
        let server = try server { $0.framesPerSecond = 1000 }
        for _ in 0..<50 {
            let stream = try EventReader(server, from: "")
            _ = await stream.events { $0.contains("count") }
        }
        for _ in 0..<50 { store.send(event: .add) }
        let stream = try EventReader(server, from: "")
        #expect(await stream.events { $0.contains("count 50") }.last != nil)
    }

    @Test func `stopping ends the streams`() async throws {
        let server = try server()
        let stream = try EventReader(server, from: "")
        _ = await stream.events { $0.contains("count 0") }
        server.stop()
        #expect(await stream.events { _ in false }.isEmpty)
    }

    static func revision(_ page: String) -> String {
        page.firstMatch(of: /data-revision="([^"]*)"/).map { String($0.output.1) } ?? ""
    }

    // MARK: Sessions

    @Test func `each browser may have a view of its own`() throws {
        let server = try ViewServer { Page(store: Self.store()) }
        let first = try get(server)
        let cookie = try #require(first.headers["set-cookie"])
        #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Strict"))
        let session = String(cookie.prefix { $0 != ";" })
        #expect(session.count == 5 + 32)
        let ours = "Cookie: \(session)\r\n"
        #expect(try post(server, "press=/2", ours + "Sec-Fetch-Site: same-origin\r\n").status == 303)
        let again = try get(server, "/", ours)
        #expect(again.body.contains("count 1"))
        #expect(again.headers["set-cookie"] == nil)
        let other = try get(server)
        #expect(other.body.contains("count 0"))
        #expect(other.headers["set-cookie"] != nil && other.headers["set-cookie"] != cookie)
    }

    @Test func `a session that is gone does nothing, and the page is loaded again`() throws {
        let server = try ViewServer { Page(store: Self.store()) }
        let headers = "Cookie: loop=0123\r\nSec-Fetch-Site: same-origin\r\n"
        #expect(try post(server, "press=/2", headers).status == 303)
        #expect(try post(server, "do=press&element=/2", headers).status == 410)
        #expect(try get(server, "/events", headers).body == "data: {\"reload\":true}\n\n")
        // A name of a session that the browser has made up is not taken over.
        #expect(try get(server, "/", headers).headers["set-cookie"]?.contains("loop=0123") == false)
    }

    @Test func `the number of sessions is limited`() async throws {
        var options = ViewServer.Options()
        options.sessionsMax = 2
        let server = try ViewServer(options: options) { Page(store: Self.store()) }
        var sessions: [String] = []
        for _ in 0..<3 {
            sessions.append(String(try #require(try get(server).headers["set-cookie"]).prefix { $0 != ";" }))
        }
        // The one that was out of use longest has made room.
        func hasPage(_ session: String) throws -> Bool {
            try get(server, "/events", "Cookie: \(session)\r\n", isStream: true).body.isEmpty
        }
        #expect(try !hasPage(sessions[0]))
        // Those that are followed stay.
        let streams = try sessions.dropFirst().map { try EventReader(server, from: "", "Cookie: \($0)\r\n") }
        for stream in streams { _ = await stream.events { $0.contains("count 0") } }
        #expect(try get(server).status == 503)
        _ = streams
    }

    private func get(_ server: ViewServer, _ path: String, _ headers: String, isStream: Bool) throws -> Answer {
        let connection = try Connection(port: server.port)
        connection.send("GET \(path) HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\(headers)\r\n")
        return connection.receive()
    }
}

/// A browser's event stream. It waits on threads of its own: those of the pool are needed by what it waits for.
private final class EventReader: @unchecked Sendable {
    private let connection: Connection

    init(_ server: ViewServer, from revision: String, _ headers: String = "") throws {
        connection = try Connection(port: server.port)
        connection.send(
            "GET /events?revision=\(revision) HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\(headers)\r\n")
    }

    /// Waits for the beat, which a browser hears first if its view is the newest one.
    /// - Returns: false if the stream ended before the beat.
    func isConnected() async -> Bool {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                while let line = self.connection.line() {
                    if line.hasPrefix(":") { return continuation.resume(returning: true) }
                }
                continuation.resume(returning: false)
            }
        }
    }

    /// The events up to the first that `isLast`, or to the end of the stream.
    func events(_ isLast: @escaping @Sendable (String) -> Bool) async -> [String] {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.read(isLast)) }
        }
    }

    private func read(_ isLast: (String) -> Bool) -> [String] {
        var events: [String] = []
        while let line = connection.line() {
            guard line.hasPrefix("data: ") else { continue }
            events.append(line.replacing("\\\"", with: "\"").replacing("\\/", with: "/"))
            if isLast(line) { return events }
        }
        return events
    }
}

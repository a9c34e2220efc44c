import Glibc
import TestFolders
import Testing

@testable import LoopApp

@Suite struct `site server` {
    let folder = TestFolder()

    init() throws {
        folder.write("site/index.html", "<title>home</title>")
        folder.write("site/a b/é.md", "# é")
        folder.write("site/style.css", "p {}")
        folder.write("site/noext", "?")
        folder.write("site/.hidden", "hidden")
        folder.write("secret.txt", "secret")
        folder.write("site-secret/index.html", "secret")
        folder.link("site/out.txt", to: "../secret.txt")
        folder.link("site/outside", to: "../site-secret")
        folder.link("site/inside.css", to: "style.css")
    }

    private func server(latency: Duration = .zero) throws -> SiteServer {
        try SiteServer(folder: folder.path + "/site", latency: latency)
    }

    /// A server of the same folder that counts its requests.
    private func countingServer(latency: Duration = .zero, connectionsMax: Int = 4096) throws -> ScriptedSite {
        try ScriptedSite(folder: folder.path + "/site", latency: latency, connectionsMax: connectionsMax)
    }

    @Test func `files and indexes are served with type, length and date`() throws {
        let server = try server()
        let home = try ask(server, "GET / HTTP/1.1")
        #expect(home.status == 200)
        #expect(home.body == "<title>home</title>")
        #expect(home.headers["content-type"] == "text/html")
        #expect(home.headers["content-length"] == "19")
        #expect(home.headers["last-modified"]?.hasSuffix(" GMT") == true)
        let file = try ask(server, "GET /style.css?query=1 HTTP/1.1")
        #expect(file.headers["content-type"] == "text/css")
        #expect(file.body == "p {}")
        #expect(try ask(server, "GET /noext HTTP/1.1").headers["content-type"] == "application/octet-stream")
        #expect(try ask(server, "GET /inside.css HTTP/1.1").body == "p {}")
        let page = try ask(server, "GET /a%20b/%C3%A9.md HTTP/1.1")
        #expect(page.headers["content-type"] == "text/markdown; charset=utf-8")
        #expect(page.body == "# é")
    }

    @Test func `HEAD has the headers of GET and no body`() throws {
        let answer = try ask(server(), "HEAD /style.css HTTP/1.1")
        #expect(answer.status == 200)
        #expect(answer.headers["content-length"] == "4")
        #expect(answer.body.isEmpty)
    }

    @Test func `a folder is asked for with its slash`() throws {
        let server = try server()
        let answer = try ask(server, "GET /a%20b HTTP/1.1")
        #expect(answer.status == 301)
        #expect(answer.headers["location"] == "/a%20b/")
        #expect(try ask(server, "GET ///a%20b HTTP/1.1").headers["location"] == "/a%20b/")
    }

    @Test func `a folder without an index links what is in it`() throws {
        folder.write("site/list/b<&>.md", "x")
        folder.write("site/list/a.md", "x")
        folder.write("site/list/sub/x", "x")
        folder.write("site/list/.hidden", "x")
        folder.link("site/list/out", to: "../../secret.txt")
        let page = try ask(server(), "GET /list/ HTTP/1.1")
        #expect(page.headers["content-type"] == "text/html; charset=utf-8")
        let list = page.body.split(separator: "\n").filter { $0.hasPrefix("<li>") }
        #expect(
            list == [
                "<li><a href=\"./a.md\">a.md</a></li>",
                "<li><a href=\"./b%3C%26%3E.md\">b&lt;&amp;&gt;.md</a></li>",
                "<li><a href=\"./sub/\">sub/</a></li>",
            ])
    }

    @Test func `what may not be read is listed, and refused`() throws {
        folder.write("site/a b/closed.md", "x")
        folder.write("site/a b/closed/x", "x")
        folder.link("site/a b/link", to: "closed/x")
        folder.link("site/a b/nowhere", to: "missing")
        for name in ["closed.md", "closed"] { chmod("\(folder.path)/site/a b/\(name)", 0) }
        // This thread loses the privileges of root, if it has them. Swift does not import the header of `setfsuid`.
        typealias SetUser = @convention(c) (UInt32) -> Int32
        let setUser = unsafeBitCast(try #require(dlsym(nil, "setfsuid")), to: SetUser.self)
        chmod(folder.path, 0o755)
        _ = setUser(65534)
        defer {
            _ = setUser(geteuid())
            chmod("\(folder.path)/site/a b/closed", 0o755)
        }
        let site = try SiteFolder(folder.path + "/site")
        let answer = site.entry("/a%20b/")
        guard case .listing(let page) = answer else {
            Issue.record("no listing")
            return
        }
        let names = String(decoding: page, as: UTF8.self).split(separator: "\n").filter { $0.hasPrefix("<li>") }
        #expect(
            names.map { $0.dropLast("</a></li>".count).split(separator: ">").last } == [
                "closed.md", "closed/", "link", "é.md",
            ])
        for name in ["closed.md", "closed/", "link"] {
            let answer = site.entry("/a%20b/\(name)")
            guard case .failure(status: 403) = answer else {
                Issue.record("\(name) is not refused")
                continue
            }
        }
    }

    @Test func `a lack of descriptors is no lack of files`() {
        #expect([ENOENT, ENOTDIR, ELOOP, ENXIO, ENAMETOOLONG].map(SiteFolder.status) == [404, 404, 404, 404, 404])
        #expect([EACCES, EPERM, EMFILE, ENFILE, ENOMEM, EIO].map(SiteFolder.status) == [403, 403, 503, 503, 503, 500])
    }

    @Test func `a name that is no UTF-8 is listed and served`() throws {
        let name: [UInt8] = Array("\(folder.path)/site/a b/".utf8) + [0xFF, 0x2E, 0x6D, 0x64]
        let file = name.map { CChar(bitPattern: $0) } + [0]
        close(open(file, O_CREAT | O_WRONLY, 0o644))
        let server = try server()
        let page = try ask(server, "GET /a%20b/ HTTP/1.1").body
        #expect(page.contains("<li><a href=\"./%FF.md\">\u{FFFD}.md</a></li>"), "\(page)")
        let headers = try ask(server, "GET /a%20b/%FF.md HTTP/1.1").headers
        #expect(headers["content-type"] == "text/markdown; charset=utf-8")
        #expect(try ask(server, "GET /%FF.md HTTP/1.1").status == 404)
    }

    @Test(arguments: [
        "/missing", "/style.css/", "/../secret.txt", "/%2e%2e/secret.txt", "/%2E%2E%2Fsecret.txt",
        "/a%20b/../../secret.txt", "/a%20b/..%2f..%2fsecret.txt", "/out.txt", "/outside/", "/outside/index.html",
        "/..", "/../site-secret/index.html", "//etc/passwd", "/..%5csecret.txt",
    ])
    func `nothing outside of the folder is there`(path: String) throws {
        let answer = try ask(server(), "GET \(path) HTTP/1.1")
        #expect(answer.status == 404)
        #expect(!answer.body.contains("secret"))
    }

    @Test(arguments: ["/%", "/%4", "/%zz", "/a%00b", "*"])
    func `a malformed path is refused`(path: String) throws {
        #expect(try ask(server(), "GET \(path) HTTP/1.1").status == 400)
    }

    @Test func `other methods are refused, with their bodies`() throws {
        let server = try server()
        let answer = try ask(server, "POST / HTTP/1.1\r\nContent-Length: 5", body: "hello")
        #expect(answer.status == 405)
        #expect(answer.headers["allow"] == "GET, HEAD")
        #expect(try ask(server, "DELETE /style.css HTTP/1.1").status == 405)
    }

    @Test func `on loopback another site's name is refused`() throws {
        let server = try server()
        for path in ["/", "/a%20b/", "/style.css"] {
            for (host, status) in [
                ("evil.org", 421), ("evil.org:\(server.port)", 421), ("localhost:\(server.port)", 200),
                ("127.0.0.1", 200),
                ("[::1]:1", 200), ("docs.localhost", 200),
            ] {
                let connection = try Connection(port: server.port)
                connection.send("GET \(path) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
                #expect(connection.receive().status == status, "\(path) \(host)")
            }
        }
    }

    @Test func `at other addresses every name is answered, and a request of HTTP 1.0 without one`() throws {
        let server = try SiteServer(folder: folder.path + "/site", host: "0.0.0.0")
        for request in ["GET / HTTP/1.1\r\nHost: site:8080", "HEAD / HTTP/1.0"] {
            let connection = try Connection(port: server.port)
            connection.send("\(request)\r\n\r\n")
            #expect(connection.receive(hasBody: !request.hasPrefix("HEAD")).status == 200)
        }
    }

    @Test func `an answer is taken for what it is, and a page that is made loads nothing`() throws {
        let server = try server()
        for path in ["/", "/style.css", "/a%20b/", "/nothing", "/a%20b"] {
            let headers = try ask(server, "GET \(path) HTTP/1.1").headers
            #expect(headers["x-content-type-options"] == "nosniff")
            #expect(headers["referrer-policy"] == "same-origin")
            #expect(headers["cache-control"] == "no-cache")
            let isMade = path != "/" && path != "/style.css"
            #expect(
                headers["content-security-policy"]
                    == (isMade
                        ? "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" : nil))
        }
    }

    @Test func `a connection serves one request after the other`() throws {
        let server = try countingServer()
        let connection = try Connection(port: server.port)
        for _ in 0..<3 {
            connection.send("GET /style.css HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(connection.receive().body == "p {}")
        }
        #expect(server.requestCount == 3)
        #expect(server.requests == ["/style.css": 3])
        #expect(server.concurrencyMax == 1)
    }

    @Test func `latency delays every answer and holds no thread`() throws {
        let server = try server(latency: .milliseconds(200))
        let started = ContinuousClock.now
        let connections = try (0..<50).map { _ in try Connection(port: server.port) }
        for connection in connections { connection.send("GET /style.css HTTP/1.1\r\nHost: localhost\r\n\r\n") }
        for connection in connections { #expect(connection.receive().body == "p {}") }
        let took = ContinuousClock.now - started
        #expect(took >= .milliseconds(200))
        // One after the other would take ten seconds.
        #expect(took < .seconds(8))
    }

    @Test func `a client that finds no room is let in when another leaves`() throws {
        let server = try countingServer(connectionsMax: 1)
        var connection = try Connection(port: server.port)
        for _ in 0..<20 {
            connection.send("GET /style.css HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(connection.receive().body == "p {}")
            let next = try Connection(port: server.port)
            next.send("GET /style.css HTTP/1.1\r\nHost: localhost\r\n\r\n")
            // The one before is closed here.
            connection = next
            #expect(connection.receive().body == "p {}")
        }
    }

    @Test func `stopping answers those that wait, and closes the port`() throws {
        let server = try countingServer(latency: .seconds(3600))
        let connection = try Connection(port: server.port)
        connection.send("GET /style.css HTTP/1.1\r\nHost: localhost\r\n\r\n")
        while server.requestCount == 0 { sched_yield() }
        server.stop()
        server.stop()
        _ = connection.receive()
        #expect(throws: ConnectionRefused.self) { try Connection(port: server.port) }
    }

    @Test func `what cannot be served is said before it starts`() throws {
        let missing = #expect(throws: SiteServerError.self) { try SiteServer(folder: "/nowhere/at/all") }
        #expect(
            missing?.description
                == "cannot serve the folder \"/nowhere/at/all\": No such file or directory; give a folder that can be read"
        )
        let file = #expect(throws: SiteServerError.self) { try SiteServer(folder: folder.path + "/secret.txt") }
        #expect(file?.description.hasPrefix("cannot serve the folder") == true)
        let host = #expect(throws: SiteServerError.self) {
            try SiteServer(folder: folder.path, host: "no.such.invalid")
        }
        #expect(host?.description.hasPrefix("cannot listen on \"no.such.invalid\": ") == true)
        #expect(host?.isAddressUnavailable == false)
        let first = try SiteServer(folder: folder.path)
        let second = #expect(throws: SiteServerError.self) { try SiteServer(folder: folder.path, port: first.port) }
        #expect(second?.isAddressUnavailable == true)
        first.stop()
    }

    @Test func `garbage is refused, and the next one is served`() throws {
        let server = try server()
        for garbage in [
            "\u{16}\u{03}\u{01}\0\0", "GET\r\n\r\n", "\r\n\r\n\r\n", String(repeating: "x", count: 100_000),
        ] {
            let connection = try Connection(port: server.port)
            connection.send(garbage)
            connection.finish()
        }
        #expect(try ask(server, "GET /style.css HTTP/1.1").status == 200)
    }
}

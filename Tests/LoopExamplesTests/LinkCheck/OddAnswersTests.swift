import LoopCore
import Testing

@testable import LoopExamples

/// What servers answer that are broken, or that are sound in an unusual way.
@Suite struct `link check of odd answers` {
    private static let page = "<!doctype html><title>page</title>"
    /// `<!doctype html><a href="from-gzip">x</a>`, compressed.
    private static let gzip: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 179, 81, 76, 201, 79, 46, 169, 44, 72, 85, 200, 40, 201, 205, 177, 179, 73, 84,
        200, 40, 74, 77, 179, 85, 74, 43, 202, 207, 213, 77, 175, 202, 44, 80, 178, 171, 176, 209, 79, 180, 3, 0, 112,
        50,
        240, 188, 40, 0, 0, 0,
    ]

    private static func answer(
        _ body: [UInt8] = Array(page.utf8), status: String = "200 OK", type: String? = "text/html",
        headers: [String] = [],
        length: Int? = nil
    ) -> [UInt8] {
        var lines = ["HTTP/1.1 \(status)"] + headers + ["Connection: close"]
        if let type { lines.append("Content-Type: \(type)") }
        if !headers.contains("Transfer-Encoding: chunked") { lines.append("Content-Length: \(length ?? body.count)") }
        // Every character of a header is one byte.
        return (lines + ["", ""]).joined(separator: "\r\n").unicodeScalars.map { UInt8($0.value) } + body
    }

    /// The beginning of an answer that ends there.
    private static func cut(_ rest: String) -> [UInt8] {
        Array("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\(rest)".utf8)
    }

    private static func redirect(to location: String, _ headers: [String] = []) -> [UInt8] {
        answer([], status: "302 Found", headers: headers + ["Location: \(location)"])
    }

    /// Checks a site whose pages are all linked from its start.
    private func check(
        _ paths: [String], _ more: [String] = [],
        _ answer: @escaping @Sendable (_ method: String, _ path: String, _ head: String) -> [UInt8]?
    ) async throws -> (text: String, exitCode: Int32) {
        let start = Array((Self.page + paths.map { "<a href='\($0)'>x</a>" }.joined()).utf8)
        let server = try OddServer { method, path, head in path == "/" ? Self.answer(start) : answer(method, path, head)
        }
        return try await check(server, "/", more)
    }

    private func check(_ server: OddServer, _ path: String, _ more: [String] = []) async throws -> (
        text: String, exitCode: Int32
    ) {
        let arguments = ["http://127.0.0.1:\(server.port)\(path)", "--relative", "--retries=0"] + more
        let loop = Loop(try LinkCheck(arguments: arguments))
        for await _ in loop.states {}
        let outcome = try #require(loop.outcome)
        return (outcome.text, outcome.exitCode)
    }

    @Test(
        arguments: [
            (
                "a content encoding that was not asked for", "200 not read: content encoding br",
                answer([11, 2, 128], headers: ["Content-Encoding: br"])
            ),
            (
                "an error in an encoding that was not asked for", "404",
                answer([11, 2, 128], status: "404 Not Found", headers: ["Content-Encoding: br"])
            ),
            (
                "an error with fewer bytes than promised", "500",
                answer(status: "500 Internal Server Error", length: 1000)
            ),
            (
                "two content encodings", "200 not read: content encoding gzip, br",
                answer([11, 2, 128], headers: ["Content-Encoding: gzip, br"])
            ),
            (
                "gzip that is cut short", "200 not read: cut short",
                answer(gzip.dropLast(20), headers: ["Content-Encoding: gzip"])
            ),
            (
                "gzip without its check sum", "200 not read: cut short",
                answer(gzip.dropLast(8), headers: ["Content-Encoding: gzip"])
            ),
            (
                "gzip that is none", "200 not read: not gzip, although it says so",
                answer(headers: ["Content-Encoding: gzip"])
            ),
            (
                "gzip with a wrong check sum", "200 not read: damaged gzip",
                answer(gzip.dropLast(8) + [0, 0, 0, 0, 40, 0, 0, 0], headers: ["Content-Encoding: gzip"])
            ),
            (
                "nothing in gzip with a wrong check sum", "200 not read: damaged gzip",
                answer(gzip.prefix(10) + [3, 0, 1, 1, 1, 1, 0, 0, 0, 0], headers: ["Content-Encoding: gzip"])
            ),
            (
                "a header of 200 KB", "200 headers too long",
                answer(headers: ["X: " + String(repeating: "x", count: 200_000)])
            ),
            (
                "headers of 400 KB", "200 headers too long",
                answer(headers: (0..<40).map { "X\($0): " + String(repeating: "x", count: 10_000) })
            ),
            ("fewer bytes than promised", "200 connection lost", answer(length: 1000)),
            ("headers that end within a line", "200 connection lost", cut("X-Fo")),
            ("headers that end after a line", "200 connection lost", cut("")),
            ("headers that end after a length of 0", "200 connection lost", cut("Content-Length: 0\r\n")),
            (
                "no byte in gzip, and no length", "200 not read: cut short",
                cut("Content-Encoding: gzip\r\nConnection: close\r\n\r\n")
            ),
            (
                "no byte in deflate, and no length", "200 not read: cut short",
                cut("Content-Encoding: deflate\r\nConnection: close\r\n\r\n")
            ),
            (
                "no byte in an encoding that was not asked for", "200 not read: content encoding br",
                cut("Content-Encoding: br\r\nConnection: close\r\n\r\n")
            ),
            (
                "content encodings on two lines", "200 not read: content encoding br, gzip",
                answer(gzip, headers: ["Content-Encoding: br", "Content-Encoding: gzip"])
            ),
            (
                "two different targets", "302 redirect to /other,%20/ok is not followed",
                redirect(to: "/ok", ["Location: /other"])
            ),
            (
                "a redirect with a password", "302 redirect to http://@h.example/x%23f is not followed",
                redirect(to: "http://user:secret@h.example/x#f")
            ),
            (
                "a redirect to no URL, with a password", "302 redirect to ftp://@h.example/x is not followed",
                redirect(to: "ftp://user:p/s?e@cret@h.example/x")
            ),
            (
                "chunks without an end", "200 connection lost",
                answer(Array("3\r\nabc\r\n".utf8), headers: ["Transfer-Encoding: chunked"])
            ),
            (
                "a page beyond the limit", "200 not read whole: longer than 2048 bytes (see --body-limit)",
                answer([UInt8](repeating: 0x20, count: 2049))
            ),
            (
                "a part of a page", "206 not read whole: a part that was not asked for",
                answer(status: "206 Partial Content", headers: ["Content-Range: bytes 0-32/100"])
            ),
            (
                "a picture that says it is a page", "200 not read: not text",
                answer([0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10, 0, 0, 0, 13])
            ),
            ("UTF-32", "200 not read: not text", answer([0x3C, 0, 0, 0, 0x61, 0, 0, 0])),
            (
                "an encoding that nobody knows", "200 not read: unknown encoding x-none",
                answer([0x3C, 0x61, 0xE9], type: "text/html; charset=x-none")
            ),
            ("HTTP/0.9", "no HTTP answer", Array("hello\r\n\r\n".utf8)),
            ("status 000", "no HTTP answer", Array("HTTP/1.1 000 What\r\n\r\n".utf8)),
            ("not even a letter", "connection lost", []),
            ("a redirect to no URL", "302 redirect to http://a%20b/ is not followed", redirect(to: "http://a b/")),
            ("a redirect to no address", "302 redirect to http://[::1 is not followed", redirect(to: "http://[::1")),
            ("a redirect to FTP", "302 redirect to ftp://x/y is not followed", redirect(to: "ftp://x/y")),
            (
                "a redirect to a script", "302 redirect to javascript:x() is not followed",
                redirect(to: "javascript:x()")
            ),
            (
                "a redirect to a long URL", "302 redirect to a URL of more than 8192 bytes",
                redirect(to: "/" + String(repeating: "x", count: 9000))
            ),
            ("a redirect without a target", "302 redirect to nowhere", answer([], status: "302 Found")),
            ("choices", "300", answer(status: "300 Multiple Choices")),
            (
                "choices with a first one", "300 redirect to /ok is not followed",
                answer(status: "300 Multiple Choices", headers: ["Location: /ok"])
            ),
            (
                "a proxy to use", "305 redirect to /ok is not followed",
                answer([], status: "305 Use Proxy", headers: ["Location: /ok"])
            ),
            ("nothing new", "304", Array("HTTP/1.1 304 Not Modified\r\nLocation: /ok\r\n\r\n".utf8)),
            ("a redirect to itself", "302 redirect loop", redirect(to: "/page")),
        ] as [(String, String, [UInt8])]) func `what was not read is broken`(
            _ what: String, _ reason: String, _ bytes: [UInt8]
        ) async throws
    {
        let (text, exitCode) = try await check(["page"], ["--body-limit=2KiB"]) { _, _, _ in bytes }
        #expect(text.hasPrefix("broken  /page  \(reason)\n        on /\n"), "\(what): \(text)")
        #expect(exitCode == 1)
    }

    @Test(
        arguments: [
            ("no content", answer([], status: "204 No Content", type: nil)), ("an empty page", answer([])),
            ("no content type", answer(type: nil)),
            ("nothing in gzip", answer([], headers: ["Content-Encoding: gzip"])),
            ("nothing in an encoding that was not asked for", answer([], headers: ["Content-Encoding: br"])),
            (
                "gzip and nothing else",
                answer(gzip, headers: ["Content-Encoding: gzip", "Content-Encoding: identity,"])
            ),
            ("one target on two lines", redirect(to: "/", ["Location: /"])),
            ("a picture's stray bytes in a page", answer(Array("<title>a\u{8}b\0".utf8))),
            ("an unknown encoding of ASCII", answer(type: "text/html; charset=x-none")),
            ("gzip in two members", answer(gzip.dropLast(0) + gzip, headers: ["Content-Encoding: x-gzip"])),
            (
                "zlib",
                answer(
                    [
                        120, 156, 179, 81, 76, 201, 79, 46, 169, 44, 72, 85, 200, 40, 201, 205, 177, 179, 41, 176, 3, 0,
                        59, 248, 6, 83,
                    ], headers: ["Content-Encoding: deflate"])
            ),
            (
                "deflate",
                answer(
                    [179, 81, 76, 201, 79, 46, 169, 44, 72, 85, 200, 40, 201, 205, 177, 179, 41, 176, 3, 0],
                    headers: ["Content-Encoding: deflate"])
            ),
            ("an end without a length", Array("HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>".utf8)),
        ] as [(String, [UInt8])]) func `what is unusual is sound`(_ what: String, _ bytes: [UInt8]) async throws
    {
        let (text, exitCode) = try await check(["page"]) { _, path, _ in path == "/page" ? bytes : Self.answer() }
        #expect(text.contains("nothing broken"), "\(what): \(text)")
        #expect(exitCode == 0)
    }

    @Test func `a link to a file with half a header is broken`() async throws {
        let (text, _) = try await check(["a.zip"]) { _, _, _ in Array("HTTP/1.1 200 OK\r\nContent-Ty".utf8) }
        #expect(text.hasPrefix("broken  /a.zip  200 connection lost\n"), "\(text)")
    }

    @Test func `a type on the next line counts, and a header after the body does not`() async throws {
        let (text, _) = try await check(["folded", "trailer"]) { _, path, _ in
            let page = "18\r\n<a href='\(path)-link'>\r\n0\r\n"
            return switch path {
            case "/folded":
                Array("HTTP/1.1 200 OK\r\nContent-Type:\r\n text/html\r\n \r\n\r\n<a href=folded-link>".utf8)
            case "/trailer":
                Self.cut("Transfer-Encoding: chunked\r\n\r\n\(page)Content-Encoding: br\r\nContent-Type: a/b\r\n\r\n")
            default: Self.answer(status: "404 Not Found")
            }
        }
        #expect(
            text.hasPrefix("broken  /folded-link  404\n        on /folded\nbroken  /trailer-link  404\n"), "\(text)")
    }

    @Test func `a compressed page is read`() async throws {
        let (text, _) = try await check(["page"]) { _, path, _ in
            path == "/page"
                ? Self.answer(Self.gzip, headers: ["Content-Encoding: gzip"]) : Self.answer(status: "404 Not Found")
        }
        #expect(text.hasPrefix("broken  /from-gzip  404\n        on /page\n"), "\(text)")
    }

    @Test func `a redirect that wants its cookie back gets it`() async throws {
        let (text, _) = try await check(["self", "detour"]) { _, path, head in
            let isKnown = head.contains("seen=1")
            return switch path {
            case "/self" where !isKnown: Self.redirect(to: "/self", ["Set-Cookie: seen=1; Path=/"])
            case "/detour" where !isKnown: Self.redirect(to: "/consent?next=/detour", ["Set-Cookie: asked=1"])
            case "/consent?next=/detour": Self.redirect(to: "/detour", ["Set-Cookie: seen=1; Path=/"])
            default: Self.answer()
            }
        }
        #expect(text.hasPrefix("3 pages, 2 links, nothing broken, 0 redirects"), "\(text)")
    }

    @Test(arguments: [[], ["--max-pages=10"]])
    func `steps that lead back get the cookie of a later one`(_ more: [String]) async throws {
        let (text, _) = try await check(["gate", "loop"], more) { _, path, head in
            switch path {
            case "/gate" where !head.contains("ok=1"): Self.redirect(to: "/ask")
            case "/ask": Self.redirect(to: "/consent?back=/gate")
            case "/consent?back=/gate": Self.redirect(to: "/gate", ["Set-Cookie: ok=1"])
            case "/gate": Self.answer(Array("<a href=inside>x</a>".utf8))
            case "/loop": Self.redirect(to: "/again")
            case "/again": Self.redirect(to: "/loop", ["Set-Cookie: ok=1"])
            default: Self.answer(status: "404 Not Found")
            }
        }
        #expect(text.hasPrefix("broken  /inside  404\n        on /gate\nbroken  /loop  302 redirect loop\n"), "\(text)")
        #expect(text.contains("2 pages, 3 links, 2 broken"), "\(text)")
    }

    @Test(arguments: [[], ["--max-pages=10"]])
    func `the step that closes a loop gets the cookie of an earlier one`(_ more: [String]) async throws {
        let (text, _) = try await check(["gate", "loop"], more) { _, path, head in
            switch path {
            case "/gate": Self.redirect(to: "/inside", ["Set-Cookie: ok=1"])
            case "/inside" where !head.contains("ok=1"): Self.redirect(to: "/gate")
            case "/inside": Self.answer()
            case "/loop": Self.redirect(to: "/again", ["Set-Cookie: ok=1"])
            case "/again": Self.redirect(to: "/loop")
            default: Self.answer(status: "404 Not Found")
            }
        }
        #expect(text.contains("broken  /loop  302 redirect loop\n"), "\(text)")
        #expect(text.contains("2 pages, 2 links, 1 broken"), "\(text)")
    }

    @Test func `a URL that is fetched again is one URL of the progress`() throws {
        var settings = CheckSettings()
        settings.site = "http://a.org/gate"
        var state = LinkCheckState(settings)
        func answer(_ job: FetchJob, _ location: String?, setsCookie: Bool = false) {
            var answer = LinkCheck.Answer(status: location == nil ? 200 : 302, location: location)
            answer.setsCookie = setsCookie
            answer.keptCookies = job.keepsCookies
            if location == nil { answer.page = LinkCheck.PageContent() }
            state.apply(.fetched(target: job.target, answer: answer), at: nil)
        }
        func job() throws -> (key: UInt32, value: FetchJob) {
            #expect(state.requests.count == 1)
            return try #require(state.requests.first { _ in true })
        }
        answer(try job().value, "/consent", setsCookie: true)
        let first = try job()
        answer(first.value, "/gate")
        let again = try job()
        #expect(again.value.target == first.value.target && again.key != first.key)
        #expect(state.doneCount == 1 && state.foundCount == 2)
        answer(again.value, nil)
        #expect(state.isFinished && state.doneCount == 2 && state.foundCount == 2)
    }

    @Test func `a start that wants the cookie of a later step gets it`() async throws {
        let server = try OddServer { _, path, head in
            switch path {
            case "/gate" where !head.contains("ok=1"): Self.redirect(to: "/consent")
            case "/consent": Self.redirect(to: "/gate", ["Set-Cookie: ok=1"])
            default: Self.answer()
            }
        }
        let (text, _) = try await check(server, "/gate")
        #expect(text.contains("1 page, 0 links, nothing broken"), "\(text)")
    }

    @Test func `cookies are not kept from one URL to the next`() async throws {
        let (text, _) = try await check((0..<20).map { "page\($0)" }) { _, path, head in
            head.contains("Cookie:")
                ? Self.answer(status: "403 Forbidden") : Self.answer(headers: ["Set-Cookie: seen=1; Path=/"])
        }
        #expect(text.contains("nothing broken"), "\(text)")
    }

    @Test func `bytes of a location that are not UTF-8 are sent as they are`() async throws {
        let (text, _) = try await check(["old"]) { _, path, _ in
            switch path {
            case "/old": Self.redirect(to: "/caf\u{E9}")
            case "/caf%E9": Self.answer()
            default: Self.answer(status: "404 Not Found")
            }
        }
        #expect(text.contains("nothing broken"), "\(text)")
    }

    @Test func `a HEAD that is never answered is tried with GET`() async throws {
        let (text, _) = try await check(["a.zip"], ["--timeout=3s"]) { method, _, _ in
            method == "HEAD" ? nil : Self.answer(type: "application/zip")
        }
        #expect(text.contains("nothing broken"), "\(text)")
    }

    @Test(
        arguments: [
            ("200 no page: text/plain", answer(type: "text/plain")),
            ("200 no page: no content type", answer(type: nil)),
            ("204 no page: no content type", answer([], status: "204 No Content", type: nil)),
            ("204 no page: no content type", answer([], status: "204 No Content")),
            ("205 no page: no content type", answer([], status: "205 Reset Content")),
        ] as [(String, [UInt8])]) func `a start that is no page is broken`(_ reason: String, _ bytes: [UInt8])
        async throws
    {
        let server = try OddServer { _, _, _ in bytes }
        let (text, exitCode) = try await check(server, "/plain")
        #expect(text.hasPrefix("broken  /plain  \(reason)\n\n0 pages, 0 links, 1 broken"), "\(text)")
        #expect(exitCode == 1)
    }
}

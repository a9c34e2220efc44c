import TestFolders
import Testing

@testable import LoopFetch

/// A server whose every answer the test decides, and what to ask it with.
struct Site {
    let server: ScriptedSite
    var root: String { "http://127.0.0.1:\(server.port)" }

    init(latency: Duration = .zero, _ answer: @escaping ScriptedSite.Script) throws {
        server = try ScriptedSite(folder: "/", latency: latency, script: answer)
    }
}

@Suite struct `fetching` {
    let fetcher: Fetcher

    init() throws { fetcher = try Fetcher() }

    @Test func `a page comes with status, type, body and final URL`() async throws {
        let site = try Site { _, _ in .text("<p>héllo") }
        let response = try await fetcher.fetch(FetchRequest("\(site.root)/a/../b.html#x"))
        #expect(response.status == 200)
        #expect(response.finalURL == "\(site.root)/b.html")
        #expect(response.contentType == "text/html; charset=utf-8")
        #expect(response.mediaType == "text/html")
        #expect(String(decoding: response.body, as: UTF8.self) == "<p>héllo")
        #expect(!response.bodyTruncated)
        #expect(response.redirects.isEmpty)
        #expect(response.location == nil)
        #expect(response.retryAfterSeconds == nil)
        #expect(site.server.requests == ["/b.html": 1])
    }

    @Test func `HEAD asks for headers only`() async throws {
        let site = try Site { path, method in method == "HEAD" ? .text("body") : .status(500) }
        let response = try await fetcher.fetch(FetchRequest("\(site.root)/", method: .head))
        #expect(response.status == 200)
        #expect(response.body.isEmpty)
        #expect(!response.bodyTruncated)
        #expect(response.mediaType == "text/html")
    }

    @Test func `404 and 500 are answers`() async throws {
        let site = try Site { path, _ in path == "/gone" ? .status(404) : .status(500) }
        #expect(try await fetcher.fetch(FetchRequest("\(site.root)/gone")).status == 404)
        #expect(try await fetcher.fetch(FetchRequest("\(site.root)/")).status == 500)
    }

    @Test func `429 says when to come back`() async throws {
        let site = try Site { _, _ in .status(429, retryAfterSeconds: 7) }
        let response = try await fetcher.fetch(FetchRequest("\(site.root)/"))
        #expect(response.status == 429)
        #expect(response.retryAfterSeconds == 7)
    }

    @Test func `redirects are followed hop by hop and reported`() async throws {
        let site = try Site { path, _ in
            switch path {
            case "/a": .redirect(to: "b/c", status: 301)
            case "/b/c": .redirect(to: "../d#part")
            default: .text("end")
            }
        }
        let response = try await fetcher.fetch(FetchRequest("\(site.root)/a"))
        let root = site.root
        #expect(
            response.redirects == [
                .init(url: "\(root)/a", status: 301, location: "\(root)/b/c"),
                .init(url: "\(root)/b/c", status: 302, location: "\(root)/d#part"),
            ])
        #expect(response.finalURL == "\(root)/d")
        #expect(response.status == 200)
        #expect(response.body == Array("end".utf8))
    }

    @Test func `a redirect that is not to be followed is the answer`() async throws {
        let site = try Site { _, _ in .redirect(to: "/b?x=1#y", status: 308) }
        var request = FetchRequest("\(site.root)/a")
        request.redirectsMax = 0
        let response = try await fetcher.fetch(request)
        #expect(response.status == 308)
        #expect(response.location == "\(site.root)/b?x=1#y")
        #expect(response.finalURL == "\(site.root)/a")
        #expect(site.server.requestCount == 1)
    }

    @Test func `redirects that come back are an error with the chain`() async throws {
        let site = try Site { path, _ in path == "/a" ? .redirect(to: "/b") : .redirect(to: "/a") }
        let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(FetchRequest("\(site.root)/a")) }
        #expect(error?.code == .tooManyRedirects)
        #expect(error?.redirects.map(\.url) == ["\(site.root)/a", "\(site.root)/b"])
        #expect(error?.isTransient == false)
        #expect(error?.description == "cannot fetch \(site.root)/b: redirects come back to \(site.root)/a")
        #expect(site.server.requestCount == 2)
    }

    @Test func `more redirects than allowed are an error`() async throws {
        let site = try Site { path, _ in .redirect(to: path + "x") }
        let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(FetchRequest("\(site.root)/x")) }
        #expect(error?.code == .tooManyRedirects)
        #expect(error?.reason == "more than 10 redirects")
        #expect(site.server.requestCount == 11)
    }

    @Test func `a redirect leads to http and https only`() async throws {
        let site = try Site { _, _ in .redirect(to: "file:///etc/passwd") }
        let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(FetchRequest("\(site.root)/")) }
        #expect(error?.code == .malformedURL)
        #expect(error?.reason == "redirect to \"file:///etc/passwd\": the scheme \"file\" is neither http nor https")
    }

    @Test(arguments: ["ftp://example.com/", "nonsense", "http://", "http://a b/"])
    func `what is no web URL is not fetched`(url: String) async throws {
        let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(FetchRequest(url)) }
        #expect(error?.code == .malformedURL)
        #expect(error?.isTransient == false)
    }

    @Test func `a URL of megabytes is refused`() async throws {
        let request = FetchRequest("http://127.0.0.1/" + String(repeating: "x", count: 9_000_000))
        let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(request) }
        #expect(error?.code == .malformedURL)
        #expect(error?.reason == "longer than 100000 bytes")
    }

    @Test func `an answer that takes too long times out`() async throws {
        let site = try Site(latency: .seconds(60)) { _, _ in .text("late") }
        var request = FetchRequest("\(site.root)/")
        request.timeout = .milliseconds(50)
        let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(request) }
        #expect(error?.code == .timedOut)
        #expect(error?.isTransient == true)
    }

    @Test func `a closed port refuses`() async throws {
        let site = try Site { _, _ in nil }
        site.server.stop()
        let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(FetchRequest("\(site.root)/")) }
        #expect(error?.code == .connectionRefused)
        #expect(error?.isTransient == true)
    }

    @Test func `a host without an address is not found`() async throws {
        let request = FetchRequest("http://name.invalid/")
        let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(request) }
        #expect(error?.code == .hostNotFound)
    }

    @Test func `a connection that is dropped is lost`() async throws {
        let site = try Site { _, _ in .drop }
        let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(FetchRequest("\(site.root)/")) }
        #expect(error?.code == .connectionLost)
        #expect(error?.isTransient == true)
    }

    @Test func `TLS where there is none fails as TLS`() async throws {
        let site = try Site { _, _ in .text("plain") }
        let request = FetchRequest("https://127.0.0.1:\(site.server.port)/")
        let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(request) }
        #expect(error?.code == .tls)
    }

    @Test func `a long body is cut at the limit`() async throws {
        let site = try Site { _, _ in .body([UInt8](repeating: 120, count: 1_000_000), contentType: "text/html") }
        var request = FetchRequest("\(site.root)/")
        request.bodyBytesMax = 1000
        let response = try await fetcher.fetch(request)
        #expect(response.body == [UInt8](repeating: 120, count: 1000))
        #expect(response.bodyTruncated)
        request.bodyBytesMax = 1_000_000
        #expect(try await fetcher.fetch(request).body.count == 1_000_000)
        request.bodyBytesMax = .max
        #expect(try await fetcher.fetch(request).body.count == 1_000_000)
    }

    @Test(arguments: [100, 100_000_000])
    func `the body of another content type is not read`(bytes: Int) async throws {
        let body = [UInt8](repeating: 0, count: bytes)
        let site = try Site { path, _ in
            path == "/page" ? .text("page") : .body(body, contentType: "Image/PNG; x=y")
        }
        var request = FetchRequest("\(site.root)/image")
        request.wantedContentTypes = ["text/html"]
        let response = try await fetcher.fetch(request)
        #expect(response.status == 200)
        #expect(response.mediaType == "image/png")
        #expect(response.body.isEmpty)
        #expect(response.bodyTruncated)
        request.url = "\(site.root)/page"
        #expect(try await fetcher.fetch(request).body == Array("page".utf8))
    }

    @Test func `a cancelled task ends its transfer`() async throws {
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let site = try Site(latency: .seconds(60)) { _, _ in
            arrival.yield()
            return nil
        }
        let task = Task { [fetcher, root = site.root] in try await fetcher.fetch(FetchRequest("\(root)/")) }
        for await _ in arrivals { break }
        task.cancel()
        let error = await #expect(throws: FetchError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }

    @Test func `a task that is cancelled before it fetches fetches nothing`() async throws {
        let site = try Site(latency: .seconds(60)) { _, _ in nil }
        let task = Task { [fetcher, root = site.root] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await fetcher.fetch(FetchRequest("\(root)/"))
        }
        let error = await #expect(throws: FetchError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }

    @Test func `cancelling transfers that wait for their turn leaves the others alone`() async throws {
        var configuration = FetchConfiguration()
        configuration.transfersMax = 1
        let fetcher = try Fetcher(configuration: configuration)
        let (arrivals, arrival) = AsyncStream.makeStream(of: String.self)
        let site = try Site { path, _ in
            arrival.yield(path)
            return path == "/first" ? .text("x").after(.seconds(60)) : .text("x")
        }
        let root = site.root
        let first = Task { try await fetcher.fetch(FetchRequest("\(root)/first")) }
        for await path in arrivals where path == "/first" { break }
        let waiting = (0..<10).map { number in Task { try await fetcher.fetch(FetchRequest("\(root)/\(number)")) } }
        for task in waiting where task != waiting[5] { task.cancel() }
        for task in waiting where task != waiting[5] {
            let error = await #expect(throws: FetchError.self) { try await task.value }
            #expect(error?.code == .cancelled)
        }
        first.cancel()
        #expect(try await waiting[5].value.status == 200)
        #expect(site.server.requests == ["/first": 1, "/5": 1])
    }

    @Test func `shutdown ends what is under way and refuses what comes later`() async throws {
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let site = try Site(latency: .seconds(60)) { _, _ in
            arrival.yield()
            return nil
        }
        let task = Task { [fetcher, root = site.root] in try await fetcher.fetch(FetchRequest("\(root)/")) }
        for await _ in arrivals { break }
        fetcher.shutdown()
        fetcher.shutdown()
        var error = await #expect(throws: FetchError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        error = await #expect(throws: FetchError.self) { try await fetcher.fetch(FetchRequest("\(site.root)/")) }
        #expect(error?.code == .cancelled)
    }

    @Test func `a thousand fetches at once are all answered`() async throws {
        let site = try Site(latency: .milliseconds(20)) { path, _ in .text(path) }
        let root = site.root
        let bodies = try await withThrowingTaskGroup(of: (Int, FetchResponse).self) { group in
            for number in 0..<1000 {
                group.addTask { (number, try await fetcher.fetch(FetchRequest("\(root)/\(number)"))) }
            }
            return try await group.reduce(into: [Int: String]()) {
                $0[$1.0] = String(decoding: $1.1.body, as: UTF8.self)
            }
        }
        #expect(bodies.count == 1000)
        for (number, body) in bodies { #expect(body == "/\(number)") }
        #expect(site.server.requestCount == 1000)
        #expect(site.server.concurrencyMax <= 256)
    }

    @Test func `compressed bodies are unpacked, and limited by what they become`() async throws {
        // A hundred thousand times "x".
        let packed: [UInt8] = [
            31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 237, 193, 49, 1, 0, 0, 0, 194, 160, 218, 139, 111, 13, 15, 160, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128, 87, 3, 113, 17, 7, 254, 160, 134, 1, 0,
        ]
        let site = try Site { _, _ in .body(packed, contentType: "text/html", headers: [("Content-Encoding", "gzip")]) }
        var request = FetchRequest("\(site.root)/")
        #expect(try await fetcher.fetch(request).body == [UInt8](repeating: 120, count: 100_000))
        request.bodyBytesMax = 50_000
        let cut = try await fetcher.fetch(request)
        #expect(cut.body.count == 50_000)
        #expect(cut.bodyTruncated)
    }

    @Test func `each of many cancelled fetches ends once`() async throws {
        let site = try Site(latency: .milliseconds(1)) { _, _ in .text("x") }
        let tasks = (0..<500).map { number in
            Task { [fetcher, root = site.root] in try await fetcher.fetch(FetchRequest("\(root)/\(number)")) }
        }
        for (number, task) in tasks.enumerated() where number % 2 == 0 { task.cancel() }
        var answered = 0
        for (number, task) in tasks.enumerated() {
            switch await task.result {
            case .success(let response): answered += response.status == 200 ? 1 : 0
            case .failure(let error):
                #expect((error as? FetchError)?.code == .cancelled)
                #expect(number % 2 == 0)
            }
        }
        #expect(answered >= 250)
    }

    @Test func `connections are used again`() async throws {
        let site = try Site { _, _ in .text("x") }
        for _ in 0..<10 { _ = try await fetcher.fetch(FetchRequest("\(site.root)/")) }
        #expect(site.server.requestCount == 10)
    }
}

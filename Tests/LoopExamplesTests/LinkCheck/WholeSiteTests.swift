import Foundation
import LoopCore
import TestFolders
import Testing

@testable import LoopExamples

@Suite struct `link check of a served folder` {
    private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures")

    /// The folder, with answers that no folder gives.
    private func server() throws -> ScriptedSite {
        let busy = Countdown(1)
        return try ScriptedSite(folder: Self.fixtures.appending(path: "site").path) { path, method in
            switch path {
            case "/moved": .redirect(to: "/moved-again", status: 301)
            case "/moved-again": .redirect(to: "pages/a.html")
            case "/gone-away": .redirect(to: "/nothing.html", status: 308)
            case "/round": .redirect(to: "/and-round")
            case "/and-round": .redirect(to: "/round")
            case "/out": .redirect(to: "https://elsewhere.example/page")
            case "/busy.html": busy.isRunning() ? .status(429) : nil
            case "/down.html": .status(500)
            case "/dropped.html": .drop
            case "/no-head.pdf": method == "HEAD" ? .status(405) : .text("a file", contentType: "application/pdf")
            default: nil
            }
        }
    }

    private func check(_ arguments: [String]) async throws -> Outcome {
        let loop = Loop(try LinkCheck(arguments: arguments))
        for await _ in loop.states {}
        #expect(loop.parked == [])
        return try #require(loop.outcome)
    }

    /// Everything that is not the same in every run, made the same.
    private func settled(_ text: String) -> String {
        text.replacing(/[0-9]+\.[0-9]{3}/, with: "0.000")
    }

    @Test func `the report is the golden one`() async throws {
        let server = try server()
        defer { server.stop() }
        let outcome = try await check(["http://127.0.0.1:\(server.port)/", "--relative", "--retries", "1"])
        let json = try #require(outcome.json)
        if ProcessInfo.processInfo.environment["LOOP_RECORD"] != nil {
            try settled(outcome.text).write(
                to: Self.fixtures.appending(path: "report.txt"), atomically: true, encoding: .utf8)
            try settled(json).write(to: Self.fixtures.appending(path: "report.json"), atomically: true, encoding: .utf8)
        }
        let text = try String(contentsOf: Self.fixtures.appending(path: "report.txt"), encoding: .utf8)
        #expect(settled(outcome.text) == text)
        #expect(try settled(json) == String(contentsOf: Self.fixtures.appending(path: "report.json"), encoding: .utf8))
        #expect(outcome.exitCode == 1)

        #expect(server.requests["/pages/a.html"] == 1)
        #expect(server.requests["/down.html"] == 2)
        #expect(server.requests["/busy.html"] == 2)
        #expect(server.requests["/moved-again"] == 1)
        #expect(server.requests["/notes/"] == 1)
    }

    @Test func `the JSON is JSON of the documented shape`() async throws {
        struct Report: Decodable {
            struct Entry: Decodable {
                let url: String
                let status: Int?
                let error: String?
                let referrers: [String]
            }
            struct Redirect: Decodable {
                let url: String
                let status: Int
                let target: String
                let referrers: [String]
            }
            let pages: Int
            let links: Int
            let broken: [Entry]
            let redirects: [Redirect]
            let seconds: Double
        }
        let server = try server()
        defer { server.stop() }
        let outcome = try await check(["http://127.0.0.1:\(server.port)/pages/", "--retries=0"])
        let report = try JSONDecoder().decode(Report.self, from: Data(#require(outcome.json).utf8))
        #expect(report.pages == 3)
        #expect(report.broken.map(\.url) == ["http://127.0.0.1:\(server.port)/pages/a.html#third"])
        #expect(report.broken.first?.error == "no such fragment")
    }

    @Test func `a limit on pages ends the check with the same pages every time`() async throws {
        var texts: [String] = []
        for concurrency in ["1", "4", "64"] {
            let server = try server()
            defer { server.stop() }
            let outcome = try await check([
                "http://127.0.0.1:\(server.port)/", "--relative", "--retries=0", "--max-pages=4",
                "--host-concurrency", concurrency,
            ])
            texts.append(settled(outcome.text))
        }
        #expect(texts[0].contains("4 pages"))
        #expect(texts[1] == texts[0])
        #expect(texts[2] == texts[0])
    }

    @Test func `a host is not asked more at a time than is wanted`() async throws {
        let server = try ScriptedSite(
            folder: Self.fixtures.appending(path: "site").path, latency: .milliseconds(5))
        defer { server.stop() }
        _ = try await check(["http://127.0.0.1:\(server.port)/", "--host-concurrency=2"])
        #expect(server.concurrencyMax == 2)
    }

    @Test func `a site without a server is broken`() async throws {
        let server = try server()
        let port = server.port
        server.stop()
        let outcome = try await check(["http://127.0.0.1:\(port)/", "--relative", "--retries=0"])
        #expect(settled(outcome.text).hasPrefix("broken  /  connection refused\n\n0 pages, 0 links, 1 broken"))
    }
}

/// Counts down, on any thread.
private final class Countdown: @unchecked Sendable {
    private let lock = NSLock()
    private var count: Int

    init(_ count: Int) { self.count = count }

    /// True as often as was said at the beginning.
    func isRunning() -> Bool {
        lock.withLock {
            count -= 1
            return count >= 0
        }
    }
}

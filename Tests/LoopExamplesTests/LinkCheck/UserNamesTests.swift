import CBOR
import LoopCore
import Testing

@testable import LoopExamples

@Suite struct `link check of URLs with passwords` {
    @Test(arguments: [[], ["--external"]])
    func `a user name or password of a link is neither shown nor sent`(_ more: [String]) async throws {
        let server = try OddServer { _, path, head in
            let host = head.split(separator: "Host: ")[1].prefix { !$0.isNewline }
            let links = [
                "http://user:secret@\(host)/x", "http://secret@\(host)/x", "http://u:sec/ret@[y/", "//secret@[z",
            ]
            let page = links.map { "<a href='\($0)'>x</a>" }.joined()
            let type = path == "/" ? "200 OK\r\nContent-Type: text/html" : "404 Not Found"
            return Array("HTTP/1.1 \(type)\r\nContent-Length: \(page.utf8.count)\r\n\r\n\(page)".utf8)
        }
        let loop = Loop(
            try LinkCheck(arguments: ["http://127.0.0.1:\(server.port)/", "--relative", "--retries=0"] + more))
        for await _ in loop.states {}
        let outcome = try #require(loop.outcome)
        let malformed = "broken  //@[z  malformed URL\n        on /\n"
        let refused = "broken  http://@127.0.0.1:\(server.port)/x  has a user name or a password\n        on /\n"
        #expect(
            outcome.text.hasPrefix(malformed + (more.isEmpty ? "" : refused) + "broken  http://@[y/  malformed"),
            "\(outcome.text)")
        let state = try CBOR.encode(loop.state)
        for text in [outcome.text, try #require(outcome.json), String(decoding: state, as: UTF8.self)] {
            #expect(!text.contains("secret") && !text.contains("user:"))
        }
    }
}

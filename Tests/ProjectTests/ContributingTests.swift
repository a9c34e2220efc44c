import Foundation
import Testing

/// CONTRIBUTING.md names the files that a change touches. The fewer, the better.
@Suite struct `The checklists for contributors` {
    @Test(arguments: [
        ("Add an administrative command", 4), ("Add a form of feedback", 2), ("Add a field of status", 3),
        ("Add a record kind", 5), ("Add a socket option for all connections", 8),
    ])
    func `name few files`(title: String, filesMax: Int) throws {
        let checklists = try Repository.text("CONTRIBUTING.md").components(separatedBy: "\n### ")
        let checklist = try #require(checklists.first { $0.hasPrefix(title + "\n") })
        let files = checklist.matches(of: /\n\| `(Sources\/[^`]+)` \|/).map { String($0.output.1) }
        #expect((1...filesMax).contains(files.count), "\(title)")
    }

    @Test func `name files that are there`() throws {
        for match in try Repository.text("CONTRIBUTING.md").matches(of: /`((?:Sources|Tests|docs|scripts)\/[^`]+)`/) {
            #expect(Repository.exists(String(match.output.1)), "\(match.output.1)")
        }
    }

    @Test func `can say that one file makes the sockets of all nodes and tools`() throws {
        let files = Repository.files(below: "Sources", suffix: ".swift").filter { !$0.hasPrefix("Sources/ZMQ/") }
        let makers = try files.filter {
            try Repository.text($0).contains(/\bSocket\(\.|\bSocket\(purpose|SocketOptions\(/)
        }
        #expect(makers == ["Sources/LoopNode/Address/NodeSockets.swift"])
    }
}

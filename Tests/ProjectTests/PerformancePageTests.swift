import Foundation
import Testing

/// The figures of docs/performance.md are those of the last published run.
@Suite struct `The page on costs` {
    private static let page = "docs/performance.md"

    @Test func `has the table that the script makes from the results`() throws {
        let script = Process()
        script.executableURL = Repository.root.appendingPathComponent("scripts/bench-table")
        let output = Pipe()
        script.standardOutput = output
        try script.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        script.waitUntilExit()
        #expect(script.terminationStatus == 0)
        let parts = try Repository.text(Self.page).split(separator: /<!-- (begin|end) bench-table -->\n/)
        try #require(parts.count == 3, "the page has one table between its two comments")
        #expect(parts[1] == String(decoding: bytes, as: UTF8.self), "run scripts/bench-table --write")
    }

    @Test func `has at most 8 KB`() throws {
        #expect(try Repository.text(Self.page).utf8.count <= 8192)
    }
}

import Foundation
import Testing

/// What users can import, as `docs/api` records it: one line for each public declaration.
@Suite struct `The public interface` {
    @Test func `is what is recorded`() throws {
        let (status, output) = try Self.api("--check")
        #expect(status == 0, "\(output)")
    }

    /// Cases are as public as their enum.
    @Test func `is at most 900 declarations, in addition to the cases of enums`() throws {
        let files = Repository.files(below: "docs/api", suffix: ".txt")
        let lines = try files.flatMap { try Repository.text($0).split(separator: "\n") }
        let count = lines.count { !$0.contains(" enum.case ") }
        #expect(count > 100 && count <= 900, "\(count)")
    }

    @Test func `is recorded with what a declaration says`() throws {
        let lines = try Repository.text("docs/api/LoopCore.txt")
        let declaration = "protocol LoopDefinition<State, Event> : Sendable [is Sendable]"
        #expect(lines.contains("LoopCore protocol LoopDefinition: \(declaration)"))
    }

    private static func api(_ option: String) throws -> (status: Int32, output: String) {
        let script = Process()
        script.executableURL = Repository.root.appendingPathComponent("scripts/api")
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        let products = URL(fileURLWithPath: bundle).resolvingSymlinksInPath().deletingLastPathComponent()
        script.arguments = [option, "--modules", products.appendingPathComponent("Modules").path]
        let output = Pipe()
        script.standardOutput = output
        script.standardError = output
        try script.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        script.waitUntilExit()
        return (script.terminationStatus, String(decoding: bytes, as: UTF8.self))
    }
}

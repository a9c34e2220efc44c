import LoopNode
import Testing

@testable import LoopGallery

/// docs/examples.md shows commands, each with the last frame of its output.
@Suite(.timeLimit(.minutes(5))) struct `The page about the examples` {
    private static let page = RepositoryText.file("docs/examples.md")

    struct Shown: CustomTestStringConvertible {
        var command: String
        var frame: String
        var testDescription: String { command }
    }

    /// Each command with what follows it.
    static let shown: [Shown] = page.components(behind: "```sh\n").compactMap { part in
        let pieces = part.components(behind: "```text\n")
        guard let command = part.upTo("```"), let frame = pieces.first?.upTo("```") else { return nil }
        return command.contains("| loop-example ") ? Shown(command: command, frame: frame) : nil
    }

    @Test(arguments: shown) func `shows what its commands print last`(shown: Shown) async throws {
        let example = try ExampleProcess(command: shown.command)
        #expect(await example.process.wait() == .exited(0), "\(example.output)")
        let frames = example.output.split(separator: "---")
        #expect(try #require(frames.last).joined(separator: "\n") + "\n" == shown.frame)
    }

    @Test func `has commands, of examples that there are`() {
        #expect(Self.shown.count >= 3)
        for shown in Self.shown {
            #expect(Gallery.all.contains { shown.command.contains("| loop-example \($0.name) ") }, "\(shown.command)")
        }
    }

    @Test(arguments: Gallery.all.map(\.name)) func `shows every example by a command`(name: String) {
        #expect(Self.page.contains("loop-example \(name) "))
    }
}

extension StringProtocol {
    /// What stands behind each occurrence of a mark, up to the next one.
    fileprivate func components(behind mark: String) -> [String] {
        split(separator: mark, omittingEmptySubsequences: false).dropFirst().map { String($0) }
    }

    /// What stands before a mark; nil where it is not.
    fileprivate func upTo(_ mark: String) -> String? { firstRange(of: mark).map { String(self[..<$0.lowerBound]) } }
}

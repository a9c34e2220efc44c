import Foundation
import Testing

/// Swift code on these pages is code of tests, which compile it and run it.
@Suite struct `The Swift code of pages` {
    private static let pages: [(page: String, files: [String])] = [
        (
            "README.md",
            [
                "Tests/LoopNodeTests/Clusters/ReadmeExample.swift",
                "Examples/NewLoop/Sources/newloop-reducer/NewLoopReducer.swift",
            ]
        ),
        ("docs/asking.md", ["Tests/LoopTestingTests/TestLoop/AskingExample.swift", pageExamples]),
        (
            "docs/durable-time.md",
            [
                "Tests/LoopTestingTests/TestLoop/DurableTimeExample.swift",
                "Tests/LoopTestingTests/TestLoop/DurableTimePageTests.swift",
            ]
        ), ("docs/feedbacks.md", ["Tests/LoopCoreTests/Examples/FeedbackPolicies.swift"]),
        (
            "docs/services.md",
            [
                pageExamples, "Tests/LoopNodeTests/Log/SwiftLogExample.swift",
                "Tests/LoopNodeTests/Traces/TracingExample.swift",
                "Tests/LoopNodeTests/Health/SwiftMetricsExample.swift",
            ]
        ),
    ]

    private static let pageExamples = "Tests/LoopNodeTestingTests/PageExamples.swift"

    /// The beginnings of what is not compiled: it needs packages from outside, or is a manifest or a program of two lines, which
    /// other tests look at.
    private static let others = [
        "import LoopNode\n\n@main struct Main {", "// swift-tools-version", "struct WorkerService: Service {",
        "let shop = try RemoteLoop(Shop.self",
    ]

    @Test(arguments: pages.map(\.page)) func `is in a file that is compiled`(page: String) throws {
        let names = try #require(Self.pages.first { $0.page == page }).files
        let files = try names.map { Self.lines(of: try Repository.text($0)) }
        let blocks = try Repository.text(page).components(separatedBy: "```swift\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
        #expect(!blocks.isEmpty)
        for block in blocks where !Self.others.contains(where: { block.hasPrefix($0) }) {
            let lines = Self.lines(of: block)
            #expect(files.contains { Self.has($0, lines) }, "\(page): \(lines[0]) …")
        }
    }

    private static func lines(of text: String) -> [Substring] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    /// Whether a file has these lines one after the other, all indented by the same number of spaces.
    private static func has(_ file: [Substring], _ lines: [Substring]) -> Bool {
        guard file.count >= lines.count else { return false }
        return (0...file.count - lines.count).contains { start in
            let indentation = file[start].prefix { $0 == " " }
            return zip(file[start...], lines).allSatisfy { $0 == ($1.isEmpty ? $1 : indentation + $1) }
        }
    }
}

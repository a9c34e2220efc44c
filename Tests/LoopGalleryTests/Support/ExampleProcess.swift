import LoopLock
import LoopNode

/// One run of `loop-example`, with lines of input.
final class ExampleProcess: Sendable {
    let process: ChildProcess
    private let lines: Locked<[String]>

    /// - Parameter input: what it reads; nothing follows.
    init(_ arguments: [String], input: [String] = []) throws {
        let lines = Locked<[String]>([])
        self.lines = lines
        let typed = input.map { "\($0)\\n" }.joined()
        // A child's input is empty, so a shell types.
        process = try ChildProcess(
            .init(
                "/bin/sh",
                ["-c", "printf '\(typed)' | exec \"$0\" \"$@\"", "\(Self.folder)/loop-example"] + arguments
                    + ["--data", RepositoryData.folder],
                output: .lines { _, line in lines.withLock { $0.append(line) } }, ownGroup: true))
    }

    var output: [String] { lines.withLock { $0 } }

    /// Where the executables are that were built beside this test bundle.
    private static let folder: String = {
        let bundle = CommandLine.arguments.first { $0.contains(".xctest") } ?? CommandLine.arguments[0]
        let parts = bundle.split(separator: "/", omittingEmptySubsequences: false)
        let end = parts.firstIndex { $0.hasSuffix(".xctest") } ?? parts.count - 1
        return parts[..<end].joined(separator: "/")
    }()
}

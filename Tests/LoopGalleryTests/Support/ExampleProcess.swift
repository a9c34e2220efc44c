import LoopCollections
import LoopNode
import TestFolders

/// One run of `loop-example`, with lines of input.
final class ExampleProcess: Sendable {
    let process: ChildProcess
    /// Where it makes its own, which stays where it is killed.
    private let folder = TestFolder()
    private let lines: Locked<[String]>
    /// Tells that there are more lines.
    private let news: AsyncStream<Void>

    /// - Parameter input: what it reads; nothing follows.
    convenience init(_ arguments: [String], input: [String] = []) throws {
        let typed = input.map { "\($0)\\n" }.joined()
        let words = arguments.map { "'\($0)'" }.joined(separator: " ")
        try self.init(command: "printf '\(typed)' | loop-example \(words)")
    }

    /// - Parameter command: as a shell takes it.
    init(command: String) throws {
        let lines = Locked<[String]>([])
        self.lines = lines
        let (news, post) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.news = news
        var environment = ProcessEnvironment.current
        environment["PATH"] = "\(Self.programs):\(environment["PATH"] ?? "/usr/bin:/bin")"
        environment["TMPDIR"] = folder.path
        process = try ChildProcess(
            .init(
                "/bin/sh", ["-c", command], environment: environment, directory: RepositoryText.root,
                output: .lines { _, line in
                    lines.withLock { $0.append(line) }
                    post.yield()
                }, ownGroup: true))
    }

    var output: [String] { lines.withLock { $0 } }

    /// Waits until it has said this line.
    func hasSaid(_ line: String) async throws {
        for await _ in news where output.contains(line) { return }
        throw CancellationError()
    }

    /// Where the executables are that were built next to this test bundle.
    private static let programs: String = {
        let bundle = CommandLine.arguments.first { $0.contains(".xctest") } ?? CommandLine.arguments[0]
        let parts = bundle.split(separator: "/", omittingEmptySubsequences: false)
        let end = parts.firstIndex { $0.hasSuffix(".xctest") } ?? parts.count - 1
        return parts[..<end].joined(separator: "/")
    }()
}

import LoopCollections
import LoopNode

/// The reason why a run could not continue, for people.
package struct ChaosFailure: Error, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// A program that runs to its end.
enum Tool {
    struct Result: Sendable {
        let exit: ProcessExit
        let output: [String]
        let errors: [String]
    }

    /// Runs a command, which must succeed.
    /// - Returns: the lines of the standard output.
    /// - Throws: `ChaosFailure` with the command and its output.
    @discardableResult
    static func run(_ words: [String]) async throws -> [String] {
        let result = try await finish(words)
        guard result.exit.isSuccess else {
            let said = (result.errors + result.output).joined(separator: " ")
            throw ChaosFailure("\(words.joined(separator: " ")): \(result.exit): \(said)")
        }
        return result.output
    }

    @discardableResult
    static func run(_ words: String) async throws -> [String] {
        try await run(words.split(separator: " ").map(String.init))
    }

    /// Runs a command, whatever its exit code. It is killed if it takes longer than the limit.
    static func finish(_ words: [String], within limit: Duration = .seconds(30)) async throws -> Result {
        var environment = ProcessEnvironment.current
        environment["PATH", default: ""] += ":/usr/sbin:/sbin"
        let lines = Locked<(output: [String], errors: [String])>(([], []))
        let child = try ChildProcess(
            .init(
                words[0], Array(words.dropFirst()), environment: environment,
                output: .lines { channel, line in
                    lines.withLock { lines in
                        if channel == .output { lines.output.append(line) } else { lines.errors.append(line) }
                    }
                }, ownGroup: true))
        let exit = await child.wait(within: limit)
        let (output, errors) = lines.withLock { $0 }
        return Result(exit: exit, output: output, errors: errors)
    }
}

extension ChildProcess {
    /// Waits for the end, and kills the program if that takes longer than the limit.
    func wait(within limit: Duration) async -> ProcessExit {
        await withTaskGroup(of: ProcessExit?.self) { group in
            group.addTask { await self.wait() }
            group.addTask {
                if (try? await Task.sleep(for: limit)) != nil { self.kill() }
                return nil
            }
            while let exit = await group.next() {
                if let exit {
                    group.cancelAll()
                    return exit
                }
            }
            return await self.wait()
        }
    }
}

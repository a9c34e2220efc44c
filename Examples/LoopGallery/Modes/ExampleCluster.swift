internal import Glibc
internal import LoopCollections
internal import LoopNode

/// The processes of an example in a cluster, started by `loopctl up`: a reducer and its workers, at an address of their
/// own. They end with this process, in every case.
final class ExampleCluster: Sendable {
    /// An error: the cluster could not be started.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The address of the reducer.
    let reducer: ReducerAddress
    private let folder: TemporaryFolder
    private let process: ChildProcess
    private let said: Locked<[String]>

    /// - Parameters:
    ///   - arguments: the loop's own arguments.
    ///   - journal: a file, or `memory`.
    /// - Throws: ``Failure``; errors of the system.
    init(_ loop: String, workers: Int, journal: String, arguments: [String]) throws {
        let programs = ProcessEnvironment.executable.map {
            String($0.prefix(upTo: $0.lastIndex(of: "/") ?? $0.startIndex))
        }
        let loopctl = "\(programs ?? ".")/loopctl"
        guard ProcessEnvironment.find(loopctl) != nil else {
            throw Failure(description: "there is no program \(loopctl); build it by `make build`")
        }
        folder = try TemporaryFolder("loop-example")
        reducer = try ReducerAddress(parsing: "ipc://\(folder.path)/reducer")
        let said = Locked<[String]>([])
        self.said = said
        process = try ChildProcess(
            .init(
                loopctl,
                ["up", loop, "--workers", String(workers), "--bind", reducer.description, "--journal", journal]
                    + arguments,
                output: .lines { _, line in
                    said.withLock { lines in
                        lines.append(line)
                        if lines.count > 100 { lines.removeFirst() }
                    }
                }, ownGroup: true))
    }

    /// The last lines of its processes' output.
    var lines: [String] { said.withLock { $0 } }

    /// Waits until it has ended on its own.
    func wait() async -> ProcessExit { await process.wait() }

    /// Ends it, and waits until all of its processes are gone.
    func stop() async {
        process.send(SIGTERM)
        _ = await process.wait()
        folder.remove()
    }
}

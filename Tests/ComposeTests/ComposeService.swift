import Foundation
import LoopNode

/// One service of the project's compose file, as `scripts/compose-services` prints it.
struct ComposeService: Decodable, Sendable {
    struct Volume: Decodable, Sendable {
        /// A path on this machine, or the name of a volume.
        var source: String
        /// The path in the container.
        let target: String

        var hasName: Bool { !source.hasPrefix("/") }
    }

    let name: String
    let image: String
    let command: [String]
    let environment: [String: String]
    let dependsOn: [String]
    var volumes: [Volume]
    /// The words of the command that says whether it is healthy.
    let healthcheck: [String]?

    /// All services of a profile, in an order in which each can start.
    static func all(of profile: String = "file") async throws -> [ComposeService] {
        let printed = try await Command.run(
            Project.path("scripts/compose-services"), [Project.path("docker-compose.yml"), profile])
        guard printed.exit.isSuccess else {
            throw ComposeFailure("scripts/compose-services: \(printed.exit): \(printed.text)")
        }
        return try printed.lines.map { try JSONDecoder().decode(ComposeService.self, from: Data($0.utf8)) }
    }

    /// The text with the paths of the container in it where their volumes' sources are on this machine.
    func translated(_ text: String) -> String {
        func isOfName(_ character: Character?) -> Bool {
            character.map { $0.isLetter || $0.isNumber || "-_.".contains($0) } ?? false
        }
        var (done, rest) = ("", text[...])
        while let first = rest.first {
            let volume = volumes.first { volume in
                rest.hasPrefix(volume.target) && !isOfName(rest.dropFirst(volume.target.count).first)
            }
            if let volume, !isOfName(done.last) {
                done += volume.source
                rest = rest.dropFirst(volume.target.count)
            } else {
                done.append(first)
                rest = rest.dropFirst()
            }
        }
        return done
    }

    /// This service with the paths that its volumes have on this machine.
    var translated: ComposeService {
        ComposeService(
            name: name, image: image, command: command.map(translated), environment: environment.mapValues(translated),
            dependsOn: dependsOn, volumes: volumes, healthcheck: healthcheck?.map(translated))
    }
}

/// What kept the services from being run, for people.
struct ComposeFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Where things are.
enum Project {
    static let root = URL(filePath: #filePath).appending(path: "../../..").standardized

    static func path(_ name: String) -> String { root.appending(path: name).path }

    /// The folder of the executables that were built together with this test bundle.
    static let executables: String = {
        let bundle = CommandLine.arguments.lazy.compactMap { $0.range(of: ".xctest").map($0.upTo) }.first
        return URL(filePath: bundle ?? CommandLine.arguments[0]).deletingLastPathComponent().path
    }()
}

extension String {
    fileprivate func upTo(_ range: Range<Index>) -> String { String(self[..<range.lowerBound]) }
}

/// A program that runs to its end.
enum Command {
    struct Result: Sendable {
        let exit: ProcessExit
        let lines: [String]
        var text: String { lines.joined(separator: "\n") }
    }

    /// Runs a program and collects both its outputs; kills it after the limit.
    static func run(
        _ program: String, _ arguments: [String], environment: [String: String]? = nil,
        within limit: Duration = .seconds(30)
    ) async throws -> Result {
        let lines = Lines()
        let child = try ChildProcess(
            .init(program, arguments, environment: environment, output: .lines { lines.add($1) }, ownGroup: true))
        let exit = await child.wait(within: limit)
        return Result(exit: exit, lines: lines.all)
    }
}

extension ChildProcess {
    /// Waits for its end, and kills it when that takes longer than the limit.
    func wait(within limit: Duration) async -> ProcessExit {
        // In no group, which would wait for it as well.
        let watchdog = Task {
            try await Task.sleep(for: limit)
            kill()
        }
        defer { watchdog.cancel() }
        return await wait()
    }
}

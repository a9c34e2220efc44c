import Foundation
import LoopNode
import Testing

/// What `docker-compose.yml` says is what is run here: its commands, its environment, its health checks, as processes in
/// network namespaces in place of containers.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `The compose file` {
    @Test func `is valid`() async throws {
        guard
            let result = try? await Command.run(
                "docker-compose", ["-f", Project.path("docker-compose.yml"), "config", "-q"])
        else { return notRun("docker-compose is not installed: the file's form was not checked") }
        #expect(result.exit.isSuccess, "\(result.text)")
    }

    @Test func `names only programs that the image has`() async throws {
        let recipe = try String(contentsOfFile: Project.path("Dockerfile"), encoding: .utf8)
        for service in try await ComposeService.all() {
            let program = try #require(service.command.first)
            #expect(recipe.contains("--product \(program)"), "\(service.name) runs \(program)")
        }
    }

    @Test func `its services check the project's documents and end with the verdict`() async throws {
        let verdict = try await run()
        #expect(verdict.exit == .exited(0), "\(verdict.report)\n\(verdict.log.joined(separator: "\n"))")
        let totals = try #require(verdict.report.last { !$0.isEmpty })
        #expect(totals.contains("nothing broken"))
        let pages = try #require(totals.split(separator: " ").first.flatMap { Int($0) })
        #expect(pages >= (try documentCount()))
    }

    @Test func `its services find what is broken in the folder that is mounted`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "loop-compose-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, text) in [
            ("index.html", "<a href=\"a.html\">a</a> <a href=\"gone.html\">gone</a>"),
            ("a.html", "<a href=\"index.html#nowhere\">no such place</a>"),
        ] {
            try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
        }
        let verdict = try await run(site: folder.path)
        #expect(verdict.exit == .exited(1), "\(verdict.log.joined(separator: "\n"))")
        let broken = verdict.report.filter { $0.hasPrefix("broken ") }
        #expect(broken.count == 2, "\(verdict.report)")
        #expect(broken.contains { $0.contains("/gone.html  404") })
        #expect(broken.contains { $0.contains("/index.html#nowhere  200 no such fragment") })
    }

    /// Two workers, as `--scale worker=2` would start.
    private func run(site: String? = nil) async throws -> ComposedRun.Verdict {
        var services = try await ComposeService.all()
        if let site {
            for index in services.indices where services[index].name == "site" {
                services[index].volumes[0].source = site
            }
        }
        // A volume with a name is a new folder.
        let named = FileManager.default.temporaryDirectory.appending(path: "loop-volumes-\(UUID())")
        defer { try? FileManager.default.removeItem(at: named) }
        try FileManager.default.createDirectory(at: named, withIntermediateDirectories: true)
        for index in services.indices {
            for volume in services[index].volumes.indices where services[index].volumes[volume].source.isEmpty {
                services[index].volumes[volume].source = named.path
            }
        }
        let verdict = try await ComposedRun(services: services, scale: ["worker": 2], verdictFrom: "reducer").run()
        if case .loopback(let why) = verdict.kind {
            notRun("\(why): the services ran on addresses of loopback, not in namespaces")
        }
        return verdict
    }

    private func documentCount() throws -> Int {
        let names = try FileManager.default.subpathsOfDirectory(atPath: Project.path("docs"))
        return names.count { $0.hasSuffix(".md") }
    }

    /// What could not run is said, and is a failure where everything must run.
    private func notRun(_ what: String) {
        if ProcessInfo.processInfo.environment["CI"] == "true" {
            Issue.record("\(what)")
        } else {
            print("compose: \(what)")
        }
    }
}

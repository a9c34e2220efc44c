import Foundation
import LoopNode
import TestFolders
import Testing

/// What `docker-compose.yml` says is what is run here: its commands, its environment, its health checks, as processes in
/// network namespaces in place of containers.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `The compose file` {
    @Test(arguments: ["file", "ha"])
    func `is valid`(profile: String) async throws {
        guard
            let result = try? await Command.run(
                "docker-compose",
                ["-f", Project.path("docker-compose.yml"), "--profile", profile, "config", "-q"])
        else { return notRun("docker-compose is not installed: the file's form was not checked") }
        #expect(result.exit.isSuccess, "\(result.text)")
    }

    @Test(arguments: ["file", "ha"])
    func `names only programs that the image has`(profile: String) async throws {
        let recipe = try String(contentsOfFile: Project.path("Dockerfile"), encoding: .utf8)
        for service in try await ComposeService.all(of: profile) where service.image == "loop" {
            let words = service.command.flatMap { $0.split { $0.isWhitespace } }
            let programs = words.filter { $0.hasPrefix("loop") }
            #expect(!programs.isEmpty, "\(service.name) runs nothing of this project")
            for program in programs {
                #expect(recipe.contains("--product \(program)"), "\(service.name) runs \(program)")
            }
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

    @Test func `only the reducer and what makes the keys have the reducer's secret key`() async throws {
        let services = try await ComposeService.all()
        let holders = services.filter { service in service.volumes.contains { $0.source == "reducer-keys" } }
        #expect(holders.map(\.name).sorted() == ["keys", "reducer"])
        for service in services where service.name != "reducer" {
            #expect(!service.command.contains { $0.contains("loop-reducer") }, "\(service.name) owns a loop")
        }
        let reducer = try #require(services.first { $0.name == "reducer" })
        #expect(reducer.command.contains("--keys") && !reducer.command.contains("--insecure"))
    }

    @Test func `its keys are made once, kept by the next start, and made again where they are gone`() async throws {
        let volumes = TestFolder()
        var keys: [[String: String]] = []
        for start in 1...3 {
            if start == 3 {
                // New keys, and the journal of before, whose sessions belong to the old ones.
                for volume in ["reducer-keys", "worker-keys"] {
                    try FileManager.default.removeItem(atPath: "\(volumes.path)/\(volume)")
                }
            }
            let verdict = try await run(in: volumes)
            #expect(verdict.exit == .exited(0), "\(verdict.log.joined(separator: "\n"))")
            #expect(verdict.report.last { !$0.isEmpty }?.contains("nothing broken") == true)
            keys.append(try self.keys(in: volumes))
        }
        #expect(keys[0] == keys[1])
        #expect(Set(keys[1].values).isDisjoint(with: keys[2].values))
        #expect(
            Set(keys[0].keys) == [
                "reducer-keys/server.key_secret", "reducer-keys/server.key", "reducer-keys/operator.key_secret",
                "reducer-keys/allowed/operator.key", "reducer-keys/allowed/worker.key", "worker-keys/worker.key_secret",
                "worker-keys/server.key",
            ])
    }

    /// Two workers, as `--scale worker=2` would start.
    /// - Parameters:
    ///   - volumes: where volumes with names are, each in a folder of that name.
    ///   - site: what is mounted in the place of the documents.
    private func run(in volumes: TestFolder = TestFolder(), site: String? = nil) async throws -> ComposedRun.Verdict {
        var services = try await ComposeService.all()
        for service in services.indices {
            for volume in services[service].volumes.indices {
                let source = services[service].volumes[volume].source
                if services[service].volumes[volume].hasName {
                    let folder = "\(volumes.path)/\(source)"
                    try FileManager.default.createDirectory(
                        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                    services[service].volumes[volume].source = folder
                } else if let site, services[service].name == "site" {
                    services[service].volumes[volume].source = site
                }
            }
        }
        let verdict = try await ComposedRun(
            services: services.map(\.translated), scale: ["worker": 2], verdictFrom: "reducer"
        ).run()
        if case .loopback(let why) = verdict.kind {
            notRun("\(why): the services ran on addresses of loopback, not in namespaces")
        }
        return verdict
    }

    /// All files of keys, with their text.
    private func keys(in volumes: TestFolder) throws -> [String: String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: volumes.path).filter { $0.contains(".key") }
        let texts = try names.map { try String(contentsOfFile: "\(volumes.path)/\($0)", encoding: .utf8) }
        return Dictionary(uniqueKeysWithValues: zip(names, texts))
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

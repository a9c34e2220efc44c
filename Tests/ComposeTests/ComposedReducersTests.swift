import Foundation
import Testing

/// What the compose file says of two reducers with a journal in a database. `scripts/check-containers ha` runs it.
@Suite struct `The compose file's profile ha` {
    @Test func `is left out of what runs without it, and runs nothing that is not in it`() async throws {
        let settings = try String(contentsOfFile: Project.path(".env"), encoding: .utf8)
        #expect(settings.contains("\nCOMPOSE_PROFILES=file\n"))
        let usual = try await ComposeService.all().map(\.name)
        #expect(usual.sorted() == ["keys", "reducer", "site", "worker"])
        let names = try await ComposeService.all(of: "ha").map(\.name)
        #expect(
            names.sorted() == ["db1", "db2", "db3", "ha-worker", "keys", "reducer-1", "reducer-2", "site"])
    }

    @Test func `tells workers of both reducers, and each reducer where it is`() async throws {
        let services = try await ComposeService.all(of: "ha")
        let reducers = services.filter { $0.name.hasPrefix("reducer-") }
        let addresses = reducers.map { "tcp://\($0.name):7710" }
        #expect(reducers.map { $0.environment["ADVERTISED"] } == addresses)
        for service in services where service.name.hasPrefix("reducer-") || service.name == "ha-worker" {
            #expect(service.environment["LOOP_REDUCER"] == addresses.joined(separator: ","), "\(service.name)")
        }
        for reducer in reducers {
            let text = reducer.command.joined(separator: " ")
            let options = [
                "--standby", "--keys /keys/reducer", "--advertise \"$ADVERTISED\"", "--journal \"$JOURNAL\"",
            ]
            for option in options {
                #expect(text.contains(option), "\(reducer.name) has no \(option)")
            }
        }
    }

    /// One of the others has to confirm each commit: each server names the other two.
    @Test func `commits on two disks, whichever server leads`() async throws {
        let servers = try await ComposeService.all(of: "ha").filter { $0.image == "loop-database" }
        #expect(servers.count == 3)
        for server in servers {
            #expect(server.command.count == 4 && server.command.prefix(2) == [server.name, "db1"])
            #expect(Set(server.command.dropFirst(2) + [server.name]) == Set(servers.map(\.name)))
        }
        let start = try String(contentsOfFile: Project.path("database/start"), encoding: .utf8)
        #expect(start.contains("synchronous_standby_names=\"ANY 1 ($others)\" -c synchronous_commit=on"))
    }

    @Test func `gives a password only to services that need it, and shows none`() async throws {
        let services = try await ComposeService.all(of: "ha")
        func holders(_ volume: String) -> [String] {
            services.filter { $0.volumes.contains { $0.source == volume } }.map(\.name).sorted()
        }
        #expect(holders("db-reducer-secret") == ["db1", "reducer-1", "reducer-2"])
        #expect(holders("db-standby-secret") == ["db1", "db2", "db3"])
        #expect(holders("reducer-keys") == ["keys", "reducer-1", "reducer-2"])
        for service in services {
            let words = service.command + Array(service.environment.values)
            #expect(!words.contains { $0.contains("PASSWORD") || $0.firstMatch(of: /postgres:\/\/[^\/@]*:/) != nil })
            #expect(service.environment["PGPASSWORD"] == nil)
        }
        let rules = try String(contentsOfFile: Project.path("database/pg_hba.conf"), encoding: .utf8)
        for rule in rules.split(separator: "\n") where rule.hasPrefix("host") {
            #expect(rule.hasSuffix(" scram-sha-256"), "\(rule)")
        }
    }
}

import LoopCluster
import LoopCore
import LoopPostgres
import LoopWire
import TestFolders
import Testing

@testable import LoopCommands

@Suite struct `The doctor` {
    /// A server with which nothing is wrong.
    private var healthy: DatabaseFacts {
        var facts = DatabaseFacts()
        facts.version = "15.14"
        (facts.connections, facts.connectionsMax) = (5, 100)
        facts.settings = [
            "synchronous_commit": "on", "fsync": "on", "full_page_writes": "on", "synchronous_standby_names": "a",
        ]
        facts.tablesVersion = PostgresSchema.version
        facts.seesOthers = true
        return facts
    }

    @Test func `finds nothing to mend at a healthy server`() {
        #expect(
            healthy.findings(of: "db").map(\.text) == ["fine     db: PostgreSQL 15.14, a primary, 5 of 100 connections"]
        )
    }

    private typealias Case = (spoil: @Sendable (inout DatabaseFacts) -> Void, level: Finding.Level, text: String)

    private static let cases: [Case] = [
        ({ $0.isPooled = true }, .failure, "leads to a pooler"),
        ({ $0.isEncrypted = false }, .warning, "is not encrypted"),
        ({ $0.clockAhead = .seconds(-90) }, .warning, "clock and this machine's differ by 90 s"),
        ({ $0.settings["fsync"] = "off" }, .failure, "fsync is off"),
        ({ $0.settings["synchronous_commit"] = "off" }, .failure, "synchronous_commit is off"),
        ({ $0.settings["synchronous_commit"] = "local" }, .warning, "synchronous_commit is local"),
        ({ $0.isReadOnly = true }, .failure, "default_transaction_read_only is on"),
        ({ $0.tablesVersion = nil }, .failure, "lacks the tables"),
        ({ $0.tablesVersion = 1 }, .failure, "of version 1, not 2"),
        ({ $0.missingPrivileges = ["DELETE on loop_batch"] }, .failure, "lacks DELETE on loop_batch"),
        ({ $0.seesOthers = false }, .warning, "does not see other sessions"),
        ({ $0.connections = 95 }, .warning, "95 of 100 connections are taken"),
        ({ $0.oldestTransaction = .seconds(400) }, .warning, "open for 400 s"),
        ({ ($0.isReplica, $0.receives) = (true, false) }, .failure, "receives nothing"),
        (
            { ($0.isReplica, $0.receives, $0.reconnectsAfter) = (true, true, .seconds(5)) }, .warning,
            "waits 5000 ms"
        ),
    ]

    @Test(arguments: cases.indices)
    func `finds one thing that is wrong, and says what to do`(index: Int) throws {
        let (spoil, level, text) = Self.cases[index]
        var facts = healthy
        spoil(&facts)
        let found = facts.findings(of: "db").filter { $0.level != .fine }
        #expect(found.count == 1 && found[0].level == level && found[0].finding.contains(text), "\(found)")
        #expect(found.first?.remedy != nil)
    }

    @Test func `compares the servers of one URL`() {
        func server(_ name: String, _ spoil: (inout DatabaseFacts) -> Void = { _ in }) -> DatabaseInquiry.Server {
            var facts = healthy
            spoil(&facts)
            return DatabaseInquiry.Server(name: name, facts: .success(facts))
        }
        let replica = server("b") { ($0.isReplica, $0.receives) = (true, true) }
        #expect([server("a"), replica].database.allSatisfy { $0.level == .fine })
        #expect([server("a"), server("b")].database.last?.finding == "2 servers are no replicas and have the tables")
        #expect([replica, replica].database.last?.finding == "every server is a replica")
        let alone = server("a") { $0.settings["synchronous_standby_names"] = "" }
        #expect([alone].database.allSatisfy { $0.level == .fine })
        #expect([alone, replica].database.last?.finding.hasPrefix("commits wait for no standby") == true)
        let silent = DatabaseInquiry.Server(
            name: "c",
            facts: .failure(JournalError(.unreachable, operation: "x", reason: "no answer", remedy: "start it")))
        #expect([silent, server("a")].database.first?.text == "failure  c: no answer; start it")
    }

    /// What is said of a reducer with a report like this, in lines for people.
    private func lines(_ spoil: (inout StatusReport) -> Void) -> [String] {
        var report = StatusReport(loop: "jobs", schema: 1)
        report.isReady = true
        spoil(&report)
        return report.findings(of: "tcp://a:7710").map(\.text)
    }

    private func standby(_ report: inout StatusReport) { (report.role, report.isReady) = ("standby", false) }

    @Test func `says the role of a reducer, and its warnings`() {
        #expect(lines { _ in } == ["fine     tcp://a:7710: jobs, it leads"])
        #expect(lines(standby) == ["fine     tcp://a:7710: jobs, a standby"])
        #expect(lines { $0.warnings = ["CLOCK"] }.last == "warning  tcp://a:7710: CLOCK")
    }

    @Test func `says why a reducer waits without its journal, also of a standby`() {
        let reason = "it is a standby, and the journal could not be opened: wrong password"
        let found = lines {
            standby(&$0)
            ($0.notReadyBecause, $0.journalFault) = (reason, JournalFault(.auth))
        }
        #expect(found == ["failure  tcp://a:7710: jobs is not ready (auth): \(reason)"])
    }

    @Test func `says once what is a reason and a warning`() {
        let found = lines {
            ($0.isReady, $0.notReadyBecause, $0.warnings) = (false, "TWO LEADERS", ["TWO LEADERS", "CLOCK"])
        }
        #expect(
            found == [
                "failure  tcp://a:7710: jobs is not ready: TWO LEADERS", "warning  tcp://a:7710: CLOCK",
            ])
    }

    @Test func `counts parked effects, also those that a report leaves out`() {
        let effect = StatusReport.Parked(
            effect: EffectID(feedback: 0, seq: Seq(7), index: 1), feedback: "f", failures: 4, message: "no room")
        #expect(
            lines { $0.parked = [effect] }.last
                == "warning  tcp://a:7710: 1 effect is parked; see: loopctl effects --state parked")
        let many = lines { ($0.parked, $0.parkedLeftOut) = ([effect], 41) }
        #expect(many.last?.contains(": 42 effects are parked; ") == true)
    }

    @Test func `finds two reducers that lead`() async throws {
        func leaders(_ epochs: [UInt64]) throws -> [FakeReducer] {
            try epochs.map { epoch in
                var report = StatusReport(loop: "jobs", schema: 1)
                (report.isReady, report.epoch) = (true, epoch)
                report.journalLease = StatusReport.JournalLease(milliseconds: 0, provenMillisecondsAgo: 0)
                return try FakeReducer(status: report, epoch: Epoch(number: epoch, nonce: 1)) { _, _ in [] }
            }
        }
        for (epochs, code) in [([1, 2], 1), ([3, 3], 0)] as [([UInt64], Int32)] {
            let reducers = try leaders(epochs)
            let addresses = reducers.map(\.address.description).joined(separator: ",")
            let words = ["doctor", "--reducer", addresses, "--timeout", "20s"]
            #expect(await ControlProgram.run(words, environment: [:]) == code)
            withExtendedLifetime(reducers) {}
        }
    }
}

import LoopCollections
import LoopNode
import LoopWire
import TestFolders
import Testing

@testable import LoopCommands

@Suite struct `A leader may step down` {
    private let leader: StatusProbe.Member

    init() {
        var report = StatusReport(loop: "jobs", schema: 1)
        (report.role, report.history) = ("leader", "00c0ffee00c0ffee")
        leader = StatusProbe.Member(address: "tcp://a:7710", report: report)
    }

    private func standby(
        lag: UInt64 = 0, milliseconds: Int64? = 12, cold: String? = nil, loop: String = "jobs", follows: Bool = true,
        history: String = "00c0ffee00c0ffee"
    ) -> StatusProbe.Member {
        var report = StatusReport(loop: loop, schema: 1)
        (report.role, report.history) = ("standby", history)
        if follows {
            report.following = StatusReport.Following(
                position: 7, lag: lag, lagMilliseconds: milliseconds, coldBecause: cold)
        }
        return StatusProbe.Member(address: "tcp://b:7710", report: report)
    }

    private func refusal(_ standbys: StatusProbe.Member...) throws -> String? {
        try StepDownCheck([leader] + standbys).refusal
    }

    @Test func `if a standby follows closely, whatever the others do`() throws {
        #expect(try refusal(standby()) == nil)
        #expect(try refusal(standby(lag: 10_000, milliseconds: 1000)) == nil)
        #expect(try refusal(standby(cold: "no journal"), standby()) == nil)
    }

    @Test func `and is told with values why not`() throws {
        #expect(try refusal()?.hasPrefix("no standby answers; name the addresses of all reducers") == true)
        #expect(
            try refusal(standby(lag: 20_000))
                == "tcp://b:7710 is 20000 records, 12 ms behind (close is up to 10000 records and 1000 ms)")
        #expect(
            try refusal(standby(milliseconds: 1001))
                == "tcp://b:7710 is 0 records, 1001 ms behind (close is up to 10000 records and 1000 ms)")
        #expect(
            try refusal(standby(cold: "no journal"), standby(loop: "other"))
                == "tcp://b:7710 does not follow: no journal; tcp://b:7710 is of the loop other")
        #expect(
            try refusal(standby(milliseconds: nil)) == "tcp://b:7710 has not caught up with the journal yet: ask again")
        #expect(try refusal(standby(history: "1"))?.hasPrefix("tcp://b:7710 follows another history (1)") == true)
        #expect(try refusal(standby(history: "")) != nil)
        #expect(try refusal(standby(follows: false)) == "tcp://b:7710 does not follow: it is of an earlier release")
    }

    @Test func `to the one that is named, if that follows closely, and the others leave the journal to it`() throws {
        func other(_ lag: UInt64) -> StatusProbe.Member {
            StatusProbe.Member(address: "tcp://c:7710", report: standby(lag: lag).report)
        }
        var check = try StepDownCheck([leader, standby(), other(20_000)], to: "tcp://b:7710")
        #expect(check.refusal == nil && check.named == "tcp://b:7710" && check.others == ["tcp://c:7710"])
        check = try StepDownCheck([leader, standby(), other(20_000)], to: "tcp://c:7710")
        #expect(check.refusal?.hasPrefix("tcp://c:7710 is 20000 records") == true)
        for (address, why) in [
            ("tcp://a:7710", "leads already"), ("tcp://d:7710", "no standby answers at tcp://d:7710"),
        ] {
            let address = try ReducerAddress(parsing: address)
            let error = #expect(throws: AdministrationError.self) {
                try StepDownCheck([leader, standby()], to: address)
            }
            #expect("\(try #require(error))".contains(why))
        }
    }

    @Test(.timeLimit(.minutes(2))) func `to the one that is named, and a refusal leaves no other one standing back`()
        async throws
    {
        let agrees = try FakeReducer(status: standby().report, answering: { _ in .done("it does") })
        let refuses = try FakeReducer(status: standby().report, answering: { _ in .refused("it does not") })
        let named = try FakeReducer(status: standby().report, answering: { _ in .refused("it is not asked") })
        let leads = try FakeReducer(status: leader.report, answering: { _ in .refused("it is not asked") })
        let all = [leads, named, agrees, refuses].map { "\($0.address)" }.joined(separator: ",")
        func run(_ reducers: String) async -> Int32 {
            await ControlProgram.run(
                ["step-down", "--reducer", reducers, "--to", "\(named.address)"], environment: [:])
        }
        #expect(await run(all) == 1)
        let (first, undo) = (
            AdministrationRequest.standBack(milliseconds: 10_000, who: Operator.name),
            AdministrationRequest.standBack(milliseconds: 0, who: Operator.name)
        )
        #expect(agrees.asked.withLock { $0 } == [first, undo])
        #expect(refuses.asked.withLock { $0 } == [first, undo])

        // One that does not say how it is cannot be asked either.
        #expect(await run("\(leads.address),\(named.address),ipc:///tmp/loop-nowhere") == 1)
        #expect(leads.asked.withLock { $0 } == [] && named.asked.withLock { $0 } == [])
    }

    @Test func `and none is asked where only standbys answer`() {
        #expect(throws: CommandError.self) { try StepDownCheck([standby()]) }
    }
}

import LoopCore
import LoopWire
import TestFolders
import Testing

@testable import LoopNode

@Suite(.timeLimit(.minutes(2))) struct `A standby that cannot lead` {
    private let reason = "it is a standby, and the database refuses the role (auth)"

    /// Answers as a standby whose database refuses its password.
    private func standby() throws -> FakeReducer {
        var report = StatusReport(loop: "fake", schema: 1)
        report.role = StatusReport.standbyRole
        report.notReadyBecause = "it is a standby, and the database refuses the role"
        report.journalFault = JournalFault(.auth)
        return try FakeReducer(status: report) { _, _ in [.noLeader(retryAfter: .milliseconds(100))] }
    }

    @Test func `is asked why by what looks for a reducer`() throws {
        let one = try standby()
        let found = AddressLook.obstacle(at: one.address, statusWithin: .seconds(20))
        #expect(found == .standby(of: "", because: reason))
    }

    @Test func `is quoted if it refuses to answer`() throws {
        let refused = Refused(.protocolVersion, reducer: "9", peer: "8")
        let one = try FakeReducer(refusing: .refused(refused, to: .hello)) { _, _ in [] }
        #expect(throws: NodeError.self) { try StatusProbe.ask(one.address, within: .seconds(20)) }
        let found = AddressLook.obstacle(at: one.address, statusWithin: .seconds(20))
        #expect(found == .refused(refused.description))
    }

    @Test func `gives its reason to an operator's question`() throws {
        let one = try standby()
        let two = try standby()
        let both = try ReducerAddress(parsing: "\(one.address),\(two.address)")
        for address in [one.address, both] {
            var call = try AdministrationCall(reducer: address)
            let error = #expect(throws: (any Error).self) {
                try call.ask(.schedules, \.schedules, within: .seconds(20))
            }
            #expect(error.map { "\($0)" }?.contains(reason) == true, "\(String(describing: error))")
        }
    }
}

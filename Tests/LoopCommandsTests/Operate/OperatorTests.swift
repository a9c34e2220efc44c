import LoopCollections
import LoopNode
import LoopWire
import TestFolders
import Testing

@testable import LoopCommands

@Suite(.timeLimit(.minutes(5))) struct `An operator's command` {
    /// The exit code of a command line, and what it asked of a reducer that answers so.
    private func run(
        _ words: [String], answering answer: AdministrationAnswer
    ) async throws -> (code: Int32, asked: [AdministrationRequest]) {
        let reducer = try FakeReducer(answering: { _ in answer })
        let code = await ControlProgram.run(
            words + ["--reducer", reducer.address.description, "--timeout", "20s"], environment: [:])
        return (code, reducer.asked.withLock { $0 })
    }

    private static let schema = LoopSchema(
        loop: "orders", schema: 1, event: .cases(name: "Event", cases: [], isComplete: false), eventExamples: [],
        state: .object(name: "State", fields: [], isComplete: true), initialState: [0xA0], requests: [])

    @Test func `asks what it says`() async throws {
        let who = Operator.name
        #expect(who.contains("@"))
        let report = VerifyReport(from: 1, through: 2, records: 3, snapshots: 0, stateHashes: 1, difference: nil)
        let cases: [([String], AdministrationAnswer, AdministrationRequest)] = [
            (["parked"], .parked([]), .parked),
            (["parked", "retry", "0.7.1"], .done("done"), .retryParked(effect: "0.7.1", who: who)),
            (["quarantine"], .quarantine([]), .quarantine),
            (["quarantine", "list", "--json"], .quarantine([]), .quarantine),
            (["quarantine", "retry", "3"], .done("done"), .retryQuarantined(id: 3, who: who)),
            (["quarantine", "drop", "3"], .done("done"), .dropQuarantined(id: 3, who: who)),
            (
                ["history", "--from", "4", "--to", "9"], .history(HistoryPage(records: [], next: nil)),
                .history(from: 4, through: 9, after: nil)
            ),
            (["state", "--at", "8"], .state(seq: 8, bytes: [0xA0]), .state(at: 8)),
            (["state", "--json"], .state(seq: 8, bytes: [0xA0]), .state(at: nil)),
            (
                ["state", "--path", #"a.b[2]["c.d"]"#, "--section", "s"], .state(seq: 8, bytes: [0xA0]),
                .state(at: nil, part: StateSelection(section: "s", path: ["a", "b", "2", "c.d"]))
            ),
            (["schema"], .schema(Self.schema), .schema),
            (["verify"], .verified(report), .verify),
            (["trim", "--before", "100"], .done("done"), .trim(before: 100)),
            (["schedules"], .schedules([]), .schedules),
            (["schedules", "pause", "nightly"], .done("done"), .pauseSchedule(name: "nightly", who: who)),
            (["schedules", "resume", "nightly"], .done("done"), .resumeSchedule(name: "nightly", who: who)),
            (["schedules", "run", "nightly"], .done("done"), .runSchedule(name: "nightly", who: who)),
        ]
        for (words, answer, request) in cases {
            let (code, asked) = try await run(words, answering: answer)
            #expect(code == 0, "\(words)")
            #expect(asked == [request], "\(words)")
        }
    }

    @Test(arguments: [
        ["parked"], ["parked", "retry", "0.7.1"], ["quarantine", "retry", "3"], ["history"], ["state"], ["verify"],
        ["trim", "--before", "5"], ["schedules"], ["schedules", "pause", "nightly"],
    ])
    func `that is refused exits with 1`(words: [String]) async throws {
        #expect(try await run(words, answering: .refused("no")).code == 1)
    }

    @Test func `exits with 1 where a replay differs`() async throws {
        let report = VerifyReport(from: 1, through: 2, records: 3, snapshots: 0, stateHashes: 1, difference: "seq 2")
        #expect(try await run(["verify"], answering: .verified(report)).code == 1)
    }

    @Test func `exits with 2 where the answer is to something else, or none`() async throws {
        #expect(try await run(["verify"], answering: .done("what")).code == 2)
        let nobody = ["--reducer", ipcEndpoint(), "--timeout", "50ms"]
        for words in [["parked"], ["verify"], ["history"]] {
            #expect(await ControlProgram.run(words + nobody, environment: [:]) == 2)
        }
    }

    @Test(arguments: [
        ["parked", "retry"], ["quarantine", "show"], ["quarantine", "drop", "0"], ["quarantine", "retry", "x"],
        ["history", "--from", "-1"], ["trim"], ["state", "--at", "now"],
    ])
    func `exits with 64 where it is used wrongly`(words: [String]) async {
        #expect(await ControlProgram.run(words, environment: [:]) == 64)
    }

    @Test func `does not take a range that ends before it begins`() async {
        #expect(await ControlProgram.run(["history", "--from", "9", "--to", "4"], environment: [:]) == 64)
    }
}

@Suite struct `The pages of a history` {
    private func page(_ positions: [UInt64], next: UInt64?) -> HistoryPage {
        HistoryPage(records: positions.map { HistoryRecord(position: $0, seq: $0, kind: "event") }, next: next)
    }

    @Test func `are asked for until the last`() throws {
        var asked: [AdministrationRequest] = []
        var printed: [UInt64] = []
        try HistoryCommand.pages(from: 1, through: 9) { question in
            asked.append(question.request)
            return switch question.request {
            case .history(_, _, nil): page([1, 2], next: 2)
            case .history(_, _, 2): page([3], next: 3)
            default: page([4], next: nil)
            }
        } print: {
            printed.append($0.position)
        }
        #expect(
            asked == [
                .history(from: 1, through: 9, after: nil), .history(from: 1, through: 9, after: 2),
                .history(from: 1, through: 9, after: 3),
            ])
        #expect(printed == [1, 2, 3, 4])
    }

    @Test func `end where they go round in a circle`() {
        #expect(throws: AdministrationError.unexpected) {
            try HistoryCommand.pages(from: 1, through: nil, ask: { _ in page([1], next: 1) }, print: { _ in })
        }
    }
}

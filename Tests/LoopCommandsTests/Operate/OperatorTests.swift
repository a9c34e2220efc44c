import CBOR
import LoopCollections
import LoopCore
import LoopWire
import TestFolders
import Testing

@testable import LoopCommands
@testable import LoopNode

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

    private static let event = HistoryRecord(position: 9, seq: 7, kind: "event")
    private static let effect = ListedEffect(
        effect: "0.7.1", feedback: "f", state: .waiting, reason: .concurrency, text: "its feedback is full", seq: 7,
        failures: 0, request: [0xA0])
    private static let schema = LoopSchema(
        loop: "orders", schema: 1, event: .cases(name: "Event", cases: [], isComplete: false), eventExamples: [],
        state: .object(name: "State", fields: [], isComplete: true), initialState: [0xA0], requests: [])

    @Test func `asks what it says`() async throws {
        let who = Operator.name
        #expect(who.contains("@"))
        let report = VerifyReport(from: 1, through: 2, records: 3, snapshots: 0, stateHashes: 1, difference: nil)
        let cases: [([String], AdministrationAnswer, AdministrationRequest)] = [
            (["effects"], .effects([], others: 0), .effects(EffectSelection())),
            (
                ["effects", "list", "--feedback", "f", "--state", "waiting", "--max", "5"], .effects([], others: 0),
                .effects(EffectSelection(feedback: "f", state: .waiting, max: 5))
            ),
            (
                ["why", "0.7.1"], .effects([Self.effect], others: 0),
                .effects(EffectSelection(effect: "0.7.1", max: 1))
            ),
            (
                ["why", "a[2].b", "--section", "s", "--before", "9", "--max", "3"], .changes([], from: 0),
                .changes(of: StateSelection(section: "s", path: ["a", "2", "b"]), before: 9, max: 3)
            ),
            (["who", "7"], .origin(EventOrigin(event: Self.event)), .origin(of: 7)),
            (["effects", "retry", "0.7.1"], .done("done"), .retryParked(effect: "0.7.1", who: who)),
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

    @Test func `about two states asks for one after the other`() async throws {
        let state = try CBOR.fromJSON(text: #"{"a":1}"#)
        let words = ["diff", "3", "8", "--path", "a", "--section", "s"]
        let (code, asked) = try await run(words, answering: .state(seq: 3, bytes: state))
        #expect(code == 0)
        #expect(asked == [3, 8].map { .state(at: $0, part: StateSelection(section: "s")) })
        #expect(
            try await run(["diff", "3"], answering: .state(seq: 3, bytes: state)).asked
                == [.state(at: 3), .state(at: nil)])
        #expect(try await run(["diff", "3", "--path", "b"], answering: .state(seq: 3, bytes: state)).code == 1)
    }

    @Test func `why counts the workers that were lost with an effect, in all records since it was asked for`() throws {
        let ends = ["unresponsive, tried again", "failed, tried again: no room", "unresponsive, parked"].map { note in
            var end = HistoryRecord(position: 9, seq: 7, kind: "attempt ended")
            (end.effect, end.note) = ("0.7.1", note)
            return end
        }
        var asked: [UInt64?] = []
        let id = try #require(EffectID("0.7.1"))
        let count = try WhyCommand.workersLost(with: id) { request in
            let filter = HistoryFilter(kind: "attempt ended", effect: "0.7.1")
            asked.append(asked.isEmpty ? nil : 5)
            #expect(request == .history(from: 7, through: nil, after: asked.last ?? nil, filter: filter))
            return asked.count == 1 ? HistoryPage(records: ends, next: 5) : HistoryPage(records: [ends[0]], next: nil)
        }
        #expect(count == 3)
        #expect(throws: AdministrationError.unexpected) {
            try WhyCommand.workersLost(with: id) { _ in HistoryPage(records: [], next: 5) }
        }
    }

    @Test func `why asks for lost workers of an effect whose worker is not heard`() async throws {
        var effect = Self.effect
        effect.reason = .silent
        let answered = effect
        let reducer = try FakeReducer { request in
            if case .effects = request { return .effects([answered], others: 0) }
            return .history(HistoryPage(records: [], next: nil))
        }
        let words = ["why", "0.7.1", "--reducer", reducer.address.description, "--timeout", "20s"]
        #expect(await ControlProgram.run(words, environment: [:]) == 0)
        #expect(reducer.asked.withLock { $0.count } == 2)
    }

    @Test func `why about an effect that is not live is refused`() async throws {
        #expect(try await run(["why", "0.7.1"], answering: .effects([], others: 0)).code == 1)
    }

    @Test(arguments: [
        ["effects"], ["why", "0.7.1"], ["why", "a"], ["who", "3"], ["diff", "3"], ["effects", "retry", "0.7.1"],
        ["quarantine", "retry", "3"], ["history"], ["state"], ["verify"],
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
        for words in [["effects"], ["verify"], ["history"]] {
            #expect(await ControlProgram.run(words + nobody, environment: [:]) == 2)
        }
    }

    @Test(arguments: [
        ["effects", "retry"], ["why"], ["why", "a..b"], ["who", "-1"], ["diff"], ["history", "--effect", "all"],
        ["history", "--since", "1h", "--until", "2h"], ["quarantine", "show"],
        ["quarantine", "drop", "0"], ["quarantine", "retry", "x"],
        ["history", "--kind", "attempt"], ["history", "--peer", "zzz"], ["history", "--peer", "+ccf2f5f"],
        ["history", "--from", "-1"], ["trim"], ["state", "--at", "now"],
    ])
    func `exits with 64 where it is used wrongly`(words: [String]) async {
        #expect(await ControlProgram.run(words, environment: [:]) == 64)
    }

    @Test func `asks for the events of the loop if none is of the case that is asked for`() async throws {
        let reducer = try FakeReducer { request in
            if case .schema = request { return .schema(Self.schema) }
            return .history(HistoryPage(records: [Self.event], next: nil))
        }
        let words = ["history", "--event", "placed", "--reducer", reducer.address.description, "--timeout", "20s"]
        #expect(await ControlProgram.run(words, environment: [:]) == 0)
        #expect(reducer.asked.withLock { $0 } == [.history(from: 0, through: nil, after: nil), .schema])
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
        try HistoryCommand.pages(from: 1, through: 9) { request in
            asked.append(request)
            return switch request {
            case .history(_, _, nil, _): page([1, 2], next: 2)
            case .history(_, _, 2, _): page([3], next: 3)
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

    @Test func `of which none is selected name the events of the loop`() {
        func text(_ event: String?, _ cases: [String] = []) -> String {
            HistoryCommand.noneText(of: 12, event: event, cases: cases)
        }
        let shape = TypeShape.cases(
            name: "Event", cases: [.init("order", .value("Int")), .init("take", .value("Int"))], isComplete: true)
        #expect(text(nil) == "none of 12 records is selected")
        #expect(text("placed") == text(nil) && text("take", shape.caseNames) == text(nil))
        #expect(text("placed", shape.caseNames) == text(nil) + "; known cases of events: order, take")
        #expect(TypeShape.oneOf(name: "Event", values: [#""go""#]).caseNames == ["go"])
        #expect(HistoryCommand.noneText(of: 1, event: nil, cases: []) == "none of 1 record is selected")
    }

    @Test func `end where they go round in a circle`() {
        #expect(throws: AdministrationError.unexpected) {
            try HistoryCommand.pages(from: 1, through: nil, ask: { _ in page([1], next: 1) }, print: { _ in })
        }
    }
}

@Suite struct `Records that are selected` {
    private func record(
        _ seq: UInt64, kind: String = "event", time: Int64? = nil, session: UInt64? = nil, effect: String? = nil,
        event: [UInt8]? = nil
    ) -> HistoryRecord {
        var record = HistoryRecord(position: seq, seq: seq, kind: kind)
        (record.time, record.session, record.effect, record.event) = (time, session, effect, event)
        return record
    }

    private func selected(_ selection: RecordSelection, _ records: [HistoryRecord]) -> [UInt64] {
        var selection = selection
        return records.filter { selection.contains($0) }.map(\.seq)
    }

    @Test func `are those of a kind, a session, an effect or a case of the event type`() throws {
        let note = try CBOR.fromJSON(text: #"{"note":{"_0":1}}"#)
        let finish = try CBOR.fromJSON(text: #""finish""#)
        let records = [
            record(1, session: 2, event: note), record(2, session: 3, effect: "0.1.0", event: finish),
            record(3, kind: "granted", effect: "0.1.0"), record(4, session: 2, event: [0xFF]),
        ]
        #expect(selected(RecordSelection(), records) == [1, 2, 3, 4])
        #expect(selected(RecordSelection(HistoryFilter(kind: "granted")), records) == [3])
        #expect(selected(RecordSelection(HistoryFilter(session: 2)), records) == [1, 4])
        #expect(selected(RecordSelection(HistoryFilter(effect: "0.1.0")), records) == [2, 3])
        var others = record(5, kind: "granted", effect: "0.2.0")
        others.note = "and 0.1.0, 0.1.10"
        #expect(selected(RecordSelection(HistoryFilter(effect: "0.1.0")), [others]) == [5])
        #expect(selected(RecordSelection(HistoryFilter(effect: "0.1.1")), [others]) == [])
        #expect(selected(RecordSelection(HistoryFilter(event: "note")), records) == [1])
        #expect(selected(RecordSelection(HistoryFilter(event: "finish")), records) == [2])
        #expect(selected(RecordSelection(HistoryFilter(event: "finish", session: 2)), records) == [])
    }

    @Test func `are those of the sessions of a peer or a key`() {
        var records = [
            record(0, kind: "session opened", session: 2), record(0, kind: "session owned", session: 2),
            record(1, session: 2),
            record(1, kind: "session opened", session: 3), record(2, session: 3), record(3, kind: "granted"),
        ]
        records[0].note = "peer ccf2f5f3"
        records[1].note = "key ann"
        records[3].note = "peer 00000001"
        #expect(selected(RecordSelection(peer: "ccf2f5f3"), records) == [0, 0, 1])
        #expect(selected(RecordSelection(peer: "00000001"), records) == [1, 2])
        #expect(selected(RecordSelection(key: "ann"), records) == [0, 1])
        #expect(selected(RecordSelection(key: "bob"), records) == [])
        #expect(RecordSelection(key: "bob").needsSessions && !RecordSelection(HistoryFilter(session: 2)).needsSessions)
    }

    @Test func `are those of a time, and a record without a time has that of the record before`() {
        let records = [record(1), record(2, time: 1000), record(3), record(4, time: 2000), record(5)]
        let time = WallTime(milliseconds: 2000)
        #expect(selected(RecordSelection(since: time), records) == [4, 5])
        #expect(selected(RecordSelection(until: time), records) == [1, 2, 3])
    }

    @Test(arguments: [
        ("2026-11-21T09:56:24.014Z", 1_795_254_984_014), ("2026-11-21T09:56:24", 1_795_254_984_000),
        ("2026-11-21T09:56", 1_795_254_960_000), ("2026-11-21", 1_795_219_200_000), ("1970-01-01T00:00Z", 0),
    ])
    func `have times as the history shows them`(text: String, milliseconds: Int64) {
        #expect(WallTime(shown: text)?.milliseconds == milliseconds)
    }

    @Test(arguments: [
        "", "2026", "2026-11", "2026-13-01", "2026-02-30", "2026-11-21T09", "2026-11-21T25:00", "2026-11-21T09:56:24.1",
        "2026-11-21 09:56", "2026-11-21T09:56+01:00", "-1-1-1", "2026-11-21T-9:56",
    ])
    func `have no other times`(text: String) { #expect(WallTime(shown: text) == nil) }

    @Test func `can have a time that is as long ago as a duration`() throws {
        let time = try #require(ValueType<WallTime>.wallTime.read("15m"))
        let ago = SystemClock.wall.milliseconds - time.milliseconds
        #expect(900_000...960_000 ~= ago)
    }
}

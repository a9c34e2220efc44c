import CBOR
import LoopCluster
import LoopCollections
import LoopCore
import LoopJournal
import LoopWire
import TestFolders
import Testing

@testable import LoopNode

/// Dice that are thrown, each for a player of a number.
private struct Dice: LoopDefinition {
    struct State: Codable, Sendable, Equatable {
        var points: [Int: UInt64] = [:]
        var raw: [UInt8] = []
        var last = Seq.initial
    }

    enum Event: Codable, Sendable {
        case roll(player: Int)
        case quit(player: Int)
        case end
    }

    static let name = "dice"
    let initial = State()
    let feedbacks: [Feedback<State, Event>] = [
        .react("pay", requests: { Set($0.points.keys) }) { (_: Int) in .run { _ in } }.on(.workers)
    ]

    func reduce(into state: inout State, _ event: Event, _ transition: Transition) {
        var transition = transition
        state.last = transition.seq
        switch event {
        case .roll(let player): state.points[player] = transition.random.next() % 6
        case .quit(let player): state.points[player] = nil
        case .end: state.raw = [1]
        }
    }

    func outcome(of state: State) -> Outcome? { state.raw.isEmpty ? nil : Outcome(text: "over") }
}

@Suite struct `Events that have not happened` {
    private let folder = TestFolder()
    private var place: JournalPlace { .file("\(folder.path)/dice.journal") }
    private let tools = JournalTools({ Dice() }, note: { _ in })

    /// A journal in which the players 0, 1 and 2 have rolled once.
    init() throws {
        let journal = try SQLiteJournal.open("\(folder.path)/dice.journal", loop: Dice.name, newHistory: History(7))
        let definition = JournaledState(definition: Dice(), coder: CBORCoder(), history: History(7)).ownDefinition
        _ = try journal.append([.definition(definition)], through: 1)
        for player in 0..<3 {
            let event = EventRecord(
                seq: Seq(UInt64(player + 1)), time: WallTime(milliseconds: 1000 + Int64(player)), session: .none,
                number: 0, effect: nil, attempt: .none, wantsSeq: false,
                bytes: try CBOR.encode(Dice.Event.roll(player: player))[...])
            _ = try journal.append([.event(event)], through: UInt64(player + 2))
        }
        journal.close()
    }

    private func what(
        after seq: UInt64?, _ events: String..., keepsStates: Bool = false
    ) async throws -> WhatIf {
        try await tools.whatIf(place, seq.map { Seq($0) }, events.map { try CBOR.fromJSON(text: $0) }, keepsStates) {
            _ in
        }
    }

    private func text(after seq: UInt64?, _ events: String...) async throws -> [String] {
        let steps = Locked<[String]>([])
        let encoded = try events.map { try CBOR.fromJSON(text: $0) }
        _ = try await tools.whatIf(place, seq.map { Seq($0) }, encoded, false) { step in
            steps.withLock { $0 += step.text.split(separator: "\n").map(String.init) }
        }
        return steps.withLock { $0 }
    }

    @Test func `are shown with the parts of the state and the effects that they change`() async throws {
        let lines = try await text(after: 1, #"{"quit":{"player":0}}"#, #"{"roll":{"player":9}}"#)
        #expect(lines.count == 10, "\(lines)")
        #expect(lines.first == #"seq 2  {"quit":{"player":0}}"#)
        #expect(lines.contains("  - last: 1") && lines.contains("  + last: 2"))
        #expect(lines.contains("  cancelled 0.1.0 of pay: 0"))
        #expect(lines.contains("  started 0.3.0 of pay: 9"))
    }

    @Test func `have the numbers and the chance of those that have happened`() async throws {
        let rolls = (0..<3).map { #"{"roll":{"player":\#($0)}}"# }
        let tried = try await what(after: 0, rolls[0], rolls[1], rolls[2], keepsStates: true)
        let (seq, state) = try await tools.state(place, nil)
        #expect(seq == tried.steps.last?.seq)
        let last = try #require(tried.steps.last?.state)
        #expect(try CBOR.json(last) == CBOR.json(state))
    }

    @Test func `leave the journal as it is`() async throws {
        let (seq, state) = try await tools.state(place, nil)
        _ = try await what(after: nil, #"{"end":{}}"#)
        let now = try await tools.state(place, nil)
        #expect(now.seq == seq && now.bytes == state)
    }

    @Test(arguments: [
        ([#"{"throw":{}}"#], "event 1 is not applied: this is no event of the loop: "),
        ([#"{"end":{}}"#, #"{"end":{}}"#], "event 2 is not applied: the loop has ended at seq 4: over"),
        ([#"{"roll":{"player":1,"dice":2}}"#], "event 1 is not applied: the loop does not read roll.dice"),
    ])
    func `are refused if the loop would refuse them`(events: [String], why: String) async throws {
        let encoded = try events.map { try CBOR.fromJSON(text: $0) }
        let refusal = await #expect(throws: WhatIf.Refusal.self) {
            _ = try await tools.whatIf(place, nil, encoded, false) { _ in }
        }
        #expect(refusal?.text.hasPrefix(why) == true, "\(refusal?.text ?? "")")
    }

    @Test func `are documents for programs, one a line`() async throws {
        let step = try #require(try await what(after: 1, #"{"quit":{"player":0}}"#).steps.first)
        let effect = #"{"effect":"0.1.0","feedback":"pay","kind":"cancelled","request":0}"#
        #expect(step.json.hasPrefix(#"{"seq":2,"event":{"quit":{"player":0}},"changes":["#))
        #expect(step.json.contains(#"{"path":"last","old":1,"new":2}"#))
        #expect(step.json.hasSuffix(#""effects":[\#(effect)]}"#), "\(step.json)")
    }

    @Test func `become a test whose texts keep what looks like the end of a text`() throws {
        let step = WhatIf.Step(
            seq: Seq(1), event: try CBOR.encode("\"#"),
            change: StateStep(changes: [], areChangesCut: false, effects: [], effectsLeftOut: 0), counts: ["a\"#b": 2],
            state: [0], outcome: nil)
        let file = WhatIf(
            type: "Shop.Outer.Loop", loop: "shop", seq: .initial, time: WallTime(milliseconds: 5), seed: 6, state: [0],
            steps: [step]
        ).testFile(making: "Outer.Loop(1)")
        #expect(
            file.contains("@testable import Shop\n") && file.contains("TestLoop<Outer.Loop.State, Outer.Loop.Event>"))
        #expect(file.contains("        Outer.Loop(1), mode: .selective,\n"))
        #expect(file.contains(###"Values.decode(##""\"#""##)"###), "\(file)")
        #expect(file.contains(####"loop.effects(##"a"#b"##).count == 2"####), "\(file)")
    }
}

import LoopCore
import LoopNode
import LoopView
import LoopWire
import Testing

@testable import LoopCommands

@Suite struct `A place of the console` {
    @Test(arguments: [
        "now", "timeline", "timeline?event=paid&text=a%20%26%20b", "seq/17", "state", "state/17",
        "state?orders.o-17[\"a.b\"]", "state/17?orders", "why?orders.o-17", "why/9?orders", "effects", "effect/0.17.2",
        "what-if/0", "what-if/17?%7B%22a%22%3A1%7D&%22b%26%22", "what-if/17/test?%22a%22",
    ])
    func `is what its text says`(text: String) throws {
        #expect(try #require(ConsolePlace(text)).text == text)
    }

    @Test(arguments: [
        "", "nowhere", "seq", "seq/0", "seq/x", "state/x", "state?a..b", "why", "why?", "effect/all", "now/1",
        "what-if", "what-if/x", "what-if/1/tests",
    ])
    func `has no other text`(text: String) {
        #expect(ConsolePlace(text) == nil)
    }

    @Test func `has a link without characters that browsers change`() throws {
        let place = try #require(ConsolePlace("state?a.b c"))
        #expect(place.link == "#state?a.b%20c")
        var filter = ConsoleFilter()
        filter.text = "x=1"
        #expect(ConsolePlace.timeline(filter).link == "#timeline?text=x%253D1")
    }
}

@Suite struct `The state of the console` {
    private static func members(_ seq: UInt64) -> ConsoleAnswer {
        var report = StatusReport(loop: "orders", schema: 1)
        report.seq = seq
        return .members([StatusProbe.Member(address: "tcp://127.0.0.1:1", report: report)])
    }

    private func console(at place: String, seq: UInt64 = 1_000_000) -> ConsoleState {
        var state = ConsoleState()
        state.apply(.answer(.members, Self.members(seq)))
        state.apply(.visit(place))
        return state
    }

    @Test func `asks what its place needs, and keeps nothing else`() {
        var state = console(at: "seq/17")
        #expect(state.questions == [.members, .transition(17)])
        state.apply(.answer(.transition(17), .failed("no")))
        #expect(state.failure(of: .transition(17)) == "no")
        state.apply(.visit("seq/18"))
        #expect(state.questions == [.members, .transition(18)] && state.answers.count == 1)
    }

    @Test func `asks again for what is live after all of it was answered, and for the rest when someone says so`() {
        var state = console(at: "state")
        let level = ConsoleQuestion.level(at: nil, path: [], from: 0)
        let asked = state.asked
        #expect(state.pause != nil)
        state.apply(.beat)
        #expect(state.pause == nil)
        #expect(state.asked[.members] != asked[.members] && state.asked[level] == asked[level])
        state.apply(.answer(.members, Self.members(7)))
        #expect(state.pause != nil)
        state.apply(.reload)
        #expect(state.asked[level] != asked[level])
    }

    @Test func `has a window of a timeline of any length, which follows the newest at its top only`() {
        var state = console(at: "timeline")
        #expect(state.rowsCount == 1_000_000 && state.window == 999_901...1_000_000)
        state.apply(.answer(.members, Self.members(1_000_005)))
        #expect(state.window == 999_906...1_000_005)
        state.apply(.scroll(500_000))
        #expect(state.window == 499_906...500_005)
        state.apply(.answer(.members, Self.members(1_000_009)))
        #expect(state.window == 499_906...500_005)
        state.apply(.visit("seq/500000"))
        state.apply(.visit("timeline"))
        #expect(state.window == 499_906...500_005)
        state.apply(.scroll(2_000_000))
        #expect(state.window == 1...1)
        state.apply(.answer(.oldest, .oldest(300_000)))
        #expect(state.window == 300_000...300_000)
        state.apply(.newest)
        #expect(state.window == 999_910...1_000_009)
    }

    @Test func `keeps the events near the window only`() {
        var state = console(at: "timeline")
        for first in stride(from: 0, to: 5000, by: 100) {
            state.apply(.scroll(first))
            guard let window = state.window else { return }
            let records = window.map { HistoryRecord(position: $0, seq: $0, kind: "event") }
            state.apply(.answer(.rows(window), .records(records, next: nil)))
            #expect(window.allSatisfy { state.events[$0] != nil })
        }
        #expect(state.events.count <= 3 * ConsoleState.windowRows)
    }

    @Test func `pages through what a filter selects`() {
        var state = console(at: "timeline")
        state.apply(.type(ConsoleFilter(query: "event=paid")))
        state.apply(.filter)
        let filter = HistoryFilter(kind: "event", event: "paid", max: ConsoleState.windowRows)
        #expect(state.place.text == "timeline?event=paid")
        #expect(state.questions == [.members, .found(filter, before: nil)])
        state.apply(.older(77))
        #expect(state.questions == [.members, .found(filter, before: 77)])
        state.apply(.newest)
        #expect(state.questions == [.members, .found(filter, before: nil)])
        state.apply(.visit("timeline?sender=bob"))
        #expect(state.questions == [.members])
    }

    @Test func `goes to a seq, an effect or a path, and says what is none`() {
        for (text, place) in [(" 17 ", "seq/17"), ("0.17.2", "effect/0.17.2"), ("a.b", "state?a.b")] {
            var state = console(at: "now")
            state.apply(.want(text))
            state.apply(.go)
            #expect(state.place.text == place)
        }
        var state = console(at: "state/5?a")
        state.apply(.want("b"))
        state.apply(.go)
        #expect(state.place.text == "state/5?b")
        state.apply(.want("a..b"))
        state.apply(.go)
        #expect(state.place.text == "state/5?b" && state.notice?.contains("a..b") == true)
        state.apply(.visit("elsewhere"))
        #expect(state.notice == "there is no place \"elsewhere\" in this console")
    }

    @Test func `has an action done once it is confirmed, and shows its result`() throws {
        var state = console(at: "now")
        let drop = AdministrationRequest.dropQuarantined(id: 3, who: "eve")
        state.apply(.order(drop, isConfirmed: false))
        #expect(state.orders.isEmpty && state.unconfirmed == drop)
        state.apply(.order(drop, isConfirmed: true))
        let order = try #require(state.orders.values.first)
        #expect(order.request == drop && state.unconfirmed == nil)
        state.apply(.ordered(order.number, "it was dropped"))
        #expect(state.orders.isEmpty && state.notice == "it was dropped")
    }
}

@Suite struct `A lane of an effect` {
    private func record(
        _ position: UInt64, _ seq: UInt64, _ kind: String, time: Int64? = nil, effect: String? = nil,
        session: UInt64? = nil, note: String? = nil, retryAt: Int64? = nil
    ) -> HistoryRecord {
        var record = HistoryRecord(position: position, seq: seq, kind: kind)
        (record.time, record.effect, record.session, record.note) = (time, effect, session, note)
        record.retryAt = retryAt
        return record
    }

    @Test func `has its waiting, its attempts with their workers, and its end`() throws {
        let lanes = EffectLane.lanes(
            of: [
                record(1, 1, "event", time: 1000, session: 1),
                record(2, 2, "event", time: 1100, session: 1),
                record(3, 2, "granted", effect: "0.1.0", note: "and 0.2.0"),
                record(4, 3, "event", time: 1500, session: 1),
                record(5, 3, "attempt ended", effect: "0.1.0", session: 4, retryAt: 1500),
                record(6, 3, "granted", effect: "0.1.0"),
                record(7, 4, "event", time: 2000, effect: "0.1.0", session: 5),
                record(8, 4, "completed", effect: "0.1.0", session: 5),
            ], live: [EffectID("0.2.0")].reduce(into: []) { if let effect = $1 { $0.insert(effect) } })
        #expect(lanes.map(\.effect.description) == ["0.1.0", "0.2.0"])
        #expect(
            lanes[0].spans == [
                EffectLane.Span(phase: .waits, from: 1000, to: 1100),
                EffectLane.Span(phase: .runs(session: 4), from: 1100, to: 1500),
                EffectLane.Span(phase: .waits, from: 1500, to: 1500),
                EffectLane.Span(phase: .runs(session: 5), from: 1500, to: 2000),
            ])
        #expect(lanes[0].attempts == 2 && lanes[0].end == "completed")
        #expect(lanes[0].spent(until: 2000) == (100, 900))
        #expect(lanes[1].end == nil && lanes[1].spent(until: 2000) == (0, 900))
        let blocks = lanes[0].blocks(from: 1000, to: 2000, columns: 10)
        #expect(blocks.map(\.text).joined().count == 10)
        #expect(blocks.first?.text == "·" && blocks.last?.tone == .good)
    }

    @Test func `ends where its effect is parked, until an operator has it retried`() throws {
        let effect = try #require(EffectID("0.1.0"))
        var records = [
            record(1, 1, "event", time: 1000, session: 1), record(2, 1, "granted", effect: "0.1.0"),
            record(3, 2, "event", time: 1500, session: 1), record(4, 2, "attempt ended", effect: "0.1.0", session: 4),
            record(5, 3, "event", time: 9000, session: 1),
        ]
        func lane(live: Set<EffectID>) -> EffectLane? { EffectLane.lanes(of: records, live: live).first }
        #expect(lane(live: [effect])?.end == "parked" && lane(live: [])?.end == "ended")
        #expect(try #require(lane(live: [effect])).spent(until: 9000) == (0, 500))
        records.append(record(6, 3, "granted", effect: "0.1.0"))
        #expect(lane(live: [effect])?.end == nil)
    }
}

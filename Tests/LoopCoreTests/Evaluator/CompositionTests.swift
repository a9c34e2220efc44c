import LoopCompatibility
import LoopCore
import Testing

@Suite struct `Composition` {
    struct Part: Equatable, Sendable {
        var value = 0
    }

    struct Whole: Equatable, Sendable {
        var part: Part? = Part()
        var log: [String] = []
    }

    enum Event: Equatable, Sendable {
        case part(Int)
        case open
        case close

        var part: Int? { if case .part(let event) = self { event } else { nil } }
    }

    private let adding = Reducer<Part, Int> { part, event in part.value += event }

    @Test func `30 combined reducers all run, in order, on the same state`() {
        let reducer = Reducer<[String], Int>.combine(
            Reducer { state, event in state.append("a\(event)") },
            Reducer { state, event in state.append("b\(state.count)") })
        let loop = Loop<[String], Int>(initial: [], reducer: reducer)
        loop.send(1)
        #expect(loop.state == ["a1", "b1"])
        #expect(loop.seq == Seq(1))
    }

    @Test func `31 an event that does not match, or an absent part, changes nothing`() {
        let reducer = adding.optional().pullback(value: \Whole.part, event: { (event: Event) in event.part })
        var whole = Whole()
        reducer(&whole, .part(3))
        #expect(whole == Whole(part: Part(value: 3)))
        reducer(&whole, .open)
        #expect(whole == Whole(part: Part(value: 3)))
        whole.part = nil
        reducer(&whole, .part(3))
        #expect(whole == Whole(part: nil))
    }

    @Test func `31 33 a whole definition is a part by its reducer and its feedbacks`() {
        struct Halving: LoopDefinition {
            static let name = "halving"
            let initial = 0
            func reduce(into state: inout Int, _ event: Int, _: Transition) { state = event }
            var feedbacks: [Feedback<Int, Int>] {
                let even = { @Sendable (state: Int) in state > 0 && state.isMultiple(of: 2) ? state : nil }
                let odd = { @Sendable (state: Int) in state.isMultiple(of: 2) ? nil : state }
                return [
                    .react("even", request: even) { .event($0 / 2) },
                    .react("odd", request: odd) { .event($0 - 1) },
                ]
            }
        }
        struct Whole: Sendable {
            var halves = 7
            var others = 0
        }
        enum WholeEvent: Sendable {
            case halve(Int)
            case other
        }
        let halve = CasePath(WholeEvent.halve)
        let halving = Reducer(Halving()).pullback(value: \Whole.halves, event: halve)
        let other = Reducer<Whole, WholeEvent> { state, event in
            if case .other = event { state.others += 1 }
        }
        let loop = Loop<Whole, WholeEvent>(
            initial: Whole(), reducer: .combine(halving, other),
            feedbacks: Halving().feedbacks.pullback(value: \.halves, event: halve))
        #expect(loop.state.halves == 0)
        loop.send(.halve(12))
        loop.send(.other)
        #expect(loop.state.halves == 0 && loop.state.others == 1)
        // 7: 6, 3, 2, 1, 0; 12: 12, 6, 3, 2, 1, 0; and the event that is none of the part's.
        #expect(loop.seq == Seq(5 + 6 + 1))
    }

    @Test func `32 foreign events are invisible and cancel nothing`() {
        var wishes = Wishes<Whole, Event>(
            Feedback<Part, Int>.extracting("a", payload: { $0 }) { (_: Int) in .none }
                .pullback(value: { $0.part ?? Part() }, embedEvent: Event.part, extractEvent: \.part),
            Feedback<Part, Int>.react("b", request: { $0.value }) { (_: Int) in .none }
                .pullback(value: { $0.part ?? Part() }, embedEvent: Event.part, extractEvent: \.part))
        #expect(wishes.after(Whole()) == ["start 1.0.0: 0"])
        #expect(
            wishes.after(Whole(part: Part(value: 2)), .part(2)) == [
                "start 0.1.0: 2", "cancel 1.0.0", "start 1.1.0: 2",
            ])
        #expect(wishes.after(Whole(part: Part(value: 2)), .open) == [])
    }

    @Test func `a feedback with other events sends them and sees none`() {
        let asking = Feedback<Part, Int>.react("a", request: { $0.value == 1 ? 5 : nil }, effect: Effect.event)
        let watching = Feedback<Part, Int>.extracting("b", payload: { $0 }, effect: { _ in .event(100) })
        let loop = Loop<Part, String>(
            initial: Part(), reducer: { $0.value += $1.count },
            feedbacks: [asking, watching].map {
                $0.pullback(
                    value: { $0 }, embedEvent: { String(repeating: "x", count: $0) }, extractEvent: { _ in nil })
            })
        loop.send("x")
        #expect(loop.state.value == 6)
    }

    @Test func `36 leaving an optional part cancels its effects, and coming back starts them again`() {
        var wishes = Wishes<Part?, Int>(
            Feedback<Part, Int>.react("a", requests: { [0: $0.value] }) { (_: Int) in .none }.optional(),
            Feedback<Part, Int>.lensing("b", state: { $0.value }) { (_: Int) in .none }.optional())
        #expect(wishes.after(nil) == [])
        #expect(wishes.after(Part(value: 1)) == ["start 0.1.0: 1", "start 1.1.0: 1"])
        #expect(wishes.after(nil) == ["cancel 0.1.0", "cancel 1.1.0"])
        #expect(wishes.after(Part(value: 1)) == ["start 0.3.0: 1", "start 1.3.0: 1"])
    }

    @Test func `14 15 a feedback that is attached again sees the latest state and no event`() {
        var wishes = Wishes<Int, Int>(
            Feedback.react("a", request: { $0 }) { (_: Int) in .none }
                .autoconnect(followingChangesIn: { $0 > 0 }),
            Feedback.extracting("b", payload: { $0 }) { (_: Int) in .none }
                .autoconnect(followingChangesIn: { $0 > 0 }))
        #expect(wishes.after(1) == ["start 0.0.0: 1"])
        #expect(wishes.after(2, 1) == ["cancel 0.0.0", "start 0.1.0: 2", "start 1.1.0: 1"])
        #expect(wishes.after(0, -2) == ["cancel 0.1.0", "cancel 1.1.0"])
        #expect(wishes.after(2, 2) == ["start 0.3.0: 2"])
    }

    @Test func `32 events of a part's effects reach the whole loop`() {
        let whole = adding.optional().pullback(value: \Whole.part, event: { (event: Event) in event.part })
        let loop = Loop<Whole, Event>(
            initial: Whole(), reducer: whole,
            feedbacks: [
                Feedback<Part, Int>.whileTrue("up", state: { $0.value < 3 }) { _ in .event(1) }
                    .pullback(optionalValue: \.part, embedEvent: Event.part, extractEvent: \.part)
            ])
        #expect(loop.state == Whole(part: Part(value: 3)))
    }

    @Test func `32 a custom feedback of a part sees the part and its events`() async {
        let log = Log()
        let loop = Loop<Whole, Event>(
            initial: Whole(),
            reducer: adding.optional().pullback(value: \Whole.part, event: { (event: Event) in event.part }),
            feedbacks: [
                Feedback<Part, Int>.custom("watch") { transitions, _ in
                    for await (part, event) in transitions {
                        log.add("\(event.map(String.init) ?? "-") \(part.value)")
                    }
                    log.add("end")
                }
                .pullback(optionalValue: \.part, embedEvent: Event.part, extractEvent: \.part)
            ])
        loop.send(.part(2))
        loop.send(.close)
        await log.wait(for: "- 2")
        loop.stop()
        await log.wait(for: "end")
        #expect(log.lines == ["- 0", "2 2", "- 2", "end"])
    }
}

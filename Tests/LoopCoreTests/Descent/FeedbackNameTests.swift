import LoopCollections
import LoopCompatibility
import LoopCore
import Testing

@Suite struct `Names of feedbacks` {
    private static func adding(_ number: Int) -> CountingFeedback {
        .skippingRepeated(state: { _ in true }, effects: { _ in .event(number) })
    }

    @Test func `the same feedback twice runs twice`() {
        let feedback = CountingFeedback.extractingAndKeeping(
            "double", payload: { $0 == 1 ? $0 : nil }, effects: { .event(10 * $0) })
        let loop = counting([feedback, feedback])
        loop.send(1)
        #expect(loop.state.events == ["1", "10", "10"])
    }

    @Test func `feedbacks from one factory or from map run side by side`() {
        #expect(counting([Self.adding(10), Self.adding(20)]).state.events.sorted() == ["10", "20"])
        let loop = counting(
            [100, 200].map { number in
                .skippingRepeated(state: { _ in true }, effects: { _ in .event(number) })
            })
        #expect(loop.state.events.sorted() == ["100", "200"])
    }

    @Test func `two inputs feed one loop`() {
        let (one, other) = (CountingFeedback.input, CountingFeedback.input)
        let loop = counting([one.feedback, other.feedback])
        one.observer(1)
        other.observer(2)
        #expect(loop.state.events == ["1", "2"])
    }

    @Test func `one module is pulled back into two parts`() {
        struct Pair: Sendable {
            var left = 0
            var right = 0
        }
        enum PairEvent: Sendable {
            case left(Int)
            case right(Int)
        }
        let module: [Feedback<Int, Int>] = [.whileTrue("up", state: { $0 < 3 }, effects: { _ in .event(1) })]
        let add = Reducer<Int, Int> { $0 += $1 }
        let (left, right) = (CasePath(PairEvent.left), CasePath(PairEvent.right))
        let feedbacks =
            module.pullback(value: \Pair.left, event: left) + module.pullback(value: \Pair.right, event: right)
        let loop = Loop(
            initial: Pair(),
            reducer: .combine(
                add.pullback(value: \Pair.left, event: left), add.pullback(value: \Pair.right, event: right)),
            feedbacks: feedbacks)
        #expect([loop.state.left, loop.state.right] == [3, 3])
        #expect(feedbacks.distinctlyNamed().map(\.name) == ["up", "up#2"])
        let named =
            module.pullback(part: "left", value: \Pair.left, event: left)
            + module.pullback(part: "right", value: \Pair.right, event: right)
        #expect(named.map(\.name) == ["left.up", "right.up"])
    }

    @Test func `a part qualifies the names of what is pulled back, part by part`() {
        let both = Feedback<Int, Int>.combine(
            .everyState("a") { _ in .none }, .input("b", Input()))
        let whole = both.pullback(
            part: "inner", value: { (state: Int) in state }, embedEvent: { $0 }, extractEvent: { $0 })
        let outer: Feedback<Int, Int> = whole.pullback(
            part: "outer", optionalValue: { $0 }, embedEvent: { $0 }, extractEvent: { $0 })
        #expect(outer.flattened.map(\.name) == ["outer.inner.a", "outer.inner.b"])
        let same = both.pullback(value: { (state: Int) in state }, embedEvent: { $0 }, extractEvent: { $0 })
        #expect(same.flattened.map(\.name) == ["a", "b"])
    }

    @Test func `named renames a feedback and qualifies the parts of a combined one`() {
        let one = CountingFeedback.everyState("one") { _ in .none }
        #expect(one.named("first").name == "first")
        let both = CountingFeedback.combine(one, one.named("two")).named("all")
        #expect(both.flattened.map(\.name) == ["all.one", "all.two"])
    }

    @Test func `remaining duplicates are numbered by position, past names that are taken`() {
        let names = ["a", "a#2", "a", "b", "a", "b"]
        let feedbacks = names.map { CountingFeedback.everyState($0) { _ in .none } }
        #expect(feedbacks.distinctlyNamed().map(\.name) == ["a", "a#2", "a#3", "b", "a#4", "b#2"])
    }

    @Test func `a parked effect names the feedback by its number`() async {
        struct Broken: Error {}
        let failing = CountingFeedback.skippingRepeated(
            "fetch", state: \.value, effects: { _ in .run { _ in throw Broken() } })
        let loop = counting([failing, failing])
        while loop.parked.count < 2 { await Task.yield() }
        #expect(loop.parked.map(\.feedback) == ["fetch", "fetch#2"])
    }
}

import LoopCompatibility
import LoopCore
import TestClocks
import Testing

/// The spellings that users of the older libraries try first.
@Suite(.timeLimit(.minutes(5))) struct `Spellings` {
    /// Answers 0 with its event.
    private func answering(_ event: Int) -> Feedback<[Int], Int> {
        .extractingAndKeeping("\(event)", payload: { $0 == 0 ? 0 : nil }, effects: { _ in .event(event) })
    }

    @Test func `feedbacks are found under the loop's name`() {
        let one = Loop<[Int], Int>.Feedback.extracting(payload: { $0 }, effects: { $0 == 0 ? .event(11) : .none })
        let other: FeedbackLoop<[Int], Int>.Feedback = .lensing(
            state: { $0 == [0, 11] ? 12 : nil }, effects: Effect.event)
        let (input, observer) = Loop<[Int], Int>.Feedback.input
        #expect(input.name == "input")
        observer(1)
        let loop = FeedbackLoop<[Int], Int>(initial: [], reducer: { $0.append($1) }, feedbacks: [one, other])
        loop.send(0)
        #expect(loop.state == [0, 11, 12])
    }

    @Test func `a reducer that changes the state may have the label reduce`() async {
        let adding: @Sendable (inout Int, Int) -> Void = { $0 += $1 }
        let up = Feedback<Int, Int>(predicate: { $0 < 3 }, effects: { _ in .event(1) })
        #expect(Loop(initial: 1, reduce: adding, feedbacks: [up]).state == 3)
        #expect(Loop(initial: 1, reduce: adding, feedbacks: up).state == 3)
        #expect(Loop<Int, Int>(initial: 0, reduce: { $0 += $1 }, feedbacks: [up]).state == 3)
        for states in [
            system(initial: 0, reduce: adding, feedbacks: [up]), system(initial: 0, reduce: adding, feedbacks: up),
            feedbackLoop(initial: 0, reduce: adding, feedbacks: [up]),
            feedbackLoop(initial: 0, reduce: adding, feedbacks: up),
        ] {
            #expect(await states.first { $0 == 3 } == 3)
        }
    }

    @Test func `feedbacks may follow one another instead of standing in an array`() {
        let appending: @Sendable (inout [Int], Int) -> Void = { $0.append($1) }
        let appended: @Sendable ([Int], Int) -> [Int] = { $0 + [$1] }
        let (a, b) = (answering(11), answering(12))
        for loop in [
            Loop(initial: [], reducer: appending, feedbacks: a, b),
            Loop(initial: [], reducer: Reducer(appending), feedbacks: a, b),
            Loop(initial: [], reduce: appended, feedbacks: a, b), Loop(initial: [], reduce: appending, feedbacks: a, b),
        ] {
            loop.send(0)
            #expect(loop.state == [0, 11, 12])
        }
    }

    @Test func `feedbacks of a cold loop may follow one another too`() async {
        let adding: @Sendable (inout Int, Int) -> Void = { $0 += $1 }
        let added: @Sendable (Int, Int) -> Int = { $0 + $1 }
        let one = Feedback<Int, Int>(skippingRepeated: { $0 == 0 ? 1 : nil }, effects: Effect.event)
        let ten = Feedback<Int, Int>(skippingRepeated: { $0 == 1 ? 10 : nil }, effects: Effect.event)
        for states in [
            system(initial: 0, reduce: added, feedbacks: one, ten),
            system(initial: 0, reducer: adding, feedbacks: one, ten),
            system(initial: 0, reduce: adding, feedbacks: one, ten),
            feedbackLoop(initial: 0, reduce: added, feedbacks: one, ten),
            feedbackLoop(initial: 0, reducer: adding, feedbacks: one, ten),
            feedbackLoop(initial: 0, reduce: adding, feedbacks: one, ten),
            system(initialState: 0, reduce: added, feedback: one, ten),
            system(initialState: 0, reduce: added, feedback: [one, ten]),
            system(initial: 0, reducer: Reducer(adding), feedbacks: [one, ten]),
        ] {
            #expect(await states.first { $0 == 11 } == 11)
        }
    }

    @Test func `a cold loop goes by the clock that it is given`() async {
        let clock = PoolClock()
        let once = Feedback<Int, Int>(skippingRepeated: { $0 == 0 ? 1 : nil }, effects: Effect.event)
            .rated(RateLimit(perSecond: 1))
        let states = system(initial: 0, reduce: { $0 + $1 }, feedbacks: [once], clock: clock)
        async let last = states.first { $0 == 1 }
        await clock.advance(toSleeperAt: .seconds(1))
        #expect(await last == 1)
    }

    @Test func `view is scoped by its older name`() {
        let loop = counting()
        let part = loop.view(value: \.value, event: { (text: String) in text.count })
        part.send("three")
        part.mutate(keyPath: \.self, value: part.state + 1)
        #expect(loop.state.value == 6)
    }
}

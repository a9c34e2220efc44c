import LoopCollections
import LoopCompatibility
import LoopCore
import Testing

/// A cold loop starts when its first state is asked for and goes at the pace of its reader.
@Suite(.timeLimit(.minutes(5))) struct `Cold loops` {
    @Test(arguments: ColdForm.allCases, Pace.allCases)
    func `11 no state is missed, in a thousand runs`(form: ColdForm, pace: Pace) async {
        let states = form.states([pace.feedback(upTo: 5)])
        for _ in 0..<1000 {
            let seen = await take(6, of: states)
            #expect(seen == Array(0...5))
        }
    }

    @Test func `11 one state of a loop that never rests can be taken`() async {
        for form in ColdForm.allCases {
            let states = form.states([.everyState("on and on") { _ in .event(1) }])
            #expect(await take(1, of: states) == [0])
            #expect(await take(5, of: states) == [0, 1, 2, 3, 4])
            #expect(await states.first { $0 == 1000 } == 1000)
        }
    }

    @Test func `11 nothing is reduced that the reader has not asked for`() async {
        let log = Log()
        let states = system(
            initial: 0,
            reduce: { (state: Int, event: Int) in
                log.add("reduce \(state)")
                return state + event
            },
            feedbacks: [
                .everyState("on and on") { state in
                    log.add("effect \(state)")
                    return .event(1)
                }
            ])
        var iterator = states.makeAsyncIterator()
        #expect(log.lines == [])
        _ = await iterator.next()
        #expect(log.lines == ["effect 0"])
        _ = await iterator.next()
        #expect(log.lines == ["effect 0", "reduce 0", "effect 1"])
        _ = await iterator.next()
        #expect(log.lines == ["effect 0", "reduce 0", "effect 1", "reduce 1", "effect 2"])
    }

    @Test func `11 a reader that stops ends the loop, whichever thread reduces`() async {
        let log = Log()
        let states = system(
            initial: 0, reduce: { (state: Int, event: Int) in state + event },
            feedbacks: [
                .source("endless") { send in
                    do { while true { try await send(1) } } catch { log.add("\(error)") }
                },
                .everyState("lasting") { .lasting("\($0)", log) },
            ])
        for await state in states where state == 3 { break }
        await log.wait(for: "cancel 3")
        await log.wait(for: "refused: the loop has ended")
        #expect(!log.lines.contains("start 4"))
    }

    @Test func `11 a reader that is cancelled while it waits ends the loop`() async {
        let log = Log()
        let states = system(
            initial: 0, reduce: { (state: Int, event: Int) in state + event },
            feedbacks: [.everyState("lasting") { .lasting("\($0)", log) }])
        let reader = Task {
            var iterator = states.makeAsyncIterator()
            _ = await iterator.next()
            let end = await iterator.next()
            // The iterator is still held: the cancellation alone has ended the loop.
            await log.wait(for: "cancel 0")
            return end
        }
        await log.wait(for: "run 0")
        reader.cancel()
        #expect(await reader.value == nil)
    }

    @Test func `11 a cold loop is not started by an iterator that is never asked`() {
        let log = Log()
        let states = system(
            initial: 0, reduce: { (state: Int, event: Int) in state + event },
            feedbacks: [
                .everyState("effect") { _ in
                    log.add("effect")
                    return .none
                }
            ])
        _ = states.makeAsyncIterator()
        #expect(log.lines == [])
    }

    @Test func `11 a system without feedbacks ends after its initial state`() async {
        for form in ColdForm.allCases {
            var seen: [Int] = []
            for await state in form.states([]) { seen.append(state) }
            #expect(seen == [0])
        }
    }

    @Test func `11 effects run while the reader is busy, and what they send waits`() async {
        let log = Log()
        let states = system(
            initial: 0, reduce: { (state: Int, event: Int) in state + event },
            feedbacks: [
                .source("source") { send in
                    for number in 1...3 {
                        try await send(number)
                        log.add("sent \(number)")
                    }
                }
            ])
        var iterator = states.makeAsyncIterator()
        #expect(await iterator.next() == 0)
        await log.wait(for: "sent 3")
        #expect(await iterator.next() == 1)
        #expect(await iterator.next() == 3)
        #expect(await iterator.next() == 6)
    }
}

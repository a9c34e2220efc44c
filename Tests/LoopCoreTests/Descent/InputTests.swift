import LoopCollections
import LoopCompatibility
import LoopCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct `Inputs` {
    @Test func `27 an input is synchronous outside of a reduction`() {
        let (feedback, observe) = Feedback<Counting, Int>.input
        let loop = counting([feedback])
        for number in 1...100 {
            observe(1)
            #expect(loop.state.value == number)
        }
    }

    @Test func `27 what an input was sent before the loop was made has been reduced when the loop is there`() {
        let input = Input<Int>()
        for number in 1...3 { input.send(number) }
        let loop = counting([.input("input", input)])
        #expect(loop.state.events == ["1", "2", "3"])
        input.send(4)
        #expect(loop.state.events == ["1", "2", "3", "4"])
    }

    @Test func `5 27 what an input is sent from inside a reduction is reduced after it`() {
        let input = Input<Int>()
        let log = Log()
        let loop = CountingLoop(
            initial: Counting(),
            reducer: { state, event in
                log.add("begin \(event)")
                if event < 3 { input.send(event + 1) }
                state.value += event
                log.add("end \(event)")
            }, feedbacks: [.input("input", input)])
        input.send(1)
        #expect(log.lines == ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"])
        #expect(loop.state.value == 6)
    }

    @Test func `27 an input of a part is synchronous, and does nothing while the part is away`() {
        let input = Input<Int>()
        let loop = counting([
            .input("input", input).autoconnect(followingChangesIn: { $0.value >= 0 })
        ])
        input.send(-1)
        #expect(loop.state.value == -1)
        input.send(10)
        #expect(loop.state.value == -1)
        loop.send(1)
        input.send(10)
        #expect(loop.state.value == 10)
    }

    @Test func `9 27 an input sends nothing into a loop that has ended or was released`() {
        let input = Input<Int>()
        var loop: CountingLoop? = counting([.input("input", input)])
        weak let observed = loop
        input.send(1)
        #expect(loop?.state.value == 1)
        loop?.stop()
        input.send(1)
        #expect(loop?.state.value == 1)
        loop = nil
        #expect(observed == nil)
        input.send(1)
        let next = counting([.input("input", input)])
        #expect(next.state.value == 0)
    }

    @Test func `27 one input feeds every loop that has it`() {
        let input = Input<Int>()
        let loops = (0..<3).map { _ in counting([.input("input", input)]) }
        input.send(2)
        #expect(loops.map(\.state.value) == [2, 2, 2])
    }

    @Test func `3 6 27 inputs from many threads lose nothing and keep the order of each thread`() async {
        let input = Input<(Int, Int)>()
        for number in 0..<10 { input.send((0, number)) }
        let loop = Loop<[[Int]], (Int, Int)>(
            initial: Array(repeating: [], count: 4), reducer: { state, event in state[event.0].append(event.1) },
            feedbacks: [.input("input", input)])
        await withTaskGroup(of: Void.self) { group in
            for sender in 0..<4 {
                group.addTask { for number in (sender == 0 ? 10 : 0)..<500 { input.send((sender, number)) } }
            }
        }
        for sender in 0..<4 { #expect(loop.state[sender] == Array(0..<500)) }
    }

    @Test func `3 27 an input that is sent to while its loop starts keeps the order`() async {
        for _ in 0..<200 {
            let input = Input<Int>()
            let sending = Task { for number in 0..<100 { input.send(number) } }
            let loop = Loop<[Int], Int>(
                initial: [], reducer: { state, event in state.append(event) }, feedbacks: [.input("input", input)])
            await sending.value
            for await state in loop.states where state.count == 100 {
                #expect(state == Array(0..<100))
                break
            }
        }
    }
}

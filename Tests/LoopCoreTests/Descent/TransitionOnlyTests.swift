import LoopCore
import Testing

@Suite struct `Definitions with a transition` {
    private struct Numbered: LoopDefinition {
        static let name = "numbered"
        let initial: [UInt64] = []
        func reduce(into state: inout [UInt64], _ event: String, _ transition: Transition) {
            state.append(transition.seq.value)
        }
        var feedbacks: [Feedback<[UInt64], String>] { [] }
    }

    @Test func `get it from a loop`() {
        let loop = Loop(Numbered())
        loop.send("a")
        loop.send("b")
        #expect(loop.state == [1, 2])
    }

    @Test func `get it as a part of another loop too`() {
        let part = Reducer(Numbered()).pullback(value: \[UInt64].self, event: { (event: String) in event })
        let loop = Loop(initial: [], reducer: .combine(Reducer { state, _ in state.append(0) }, part))
        loop.send("a")
        loop.send("b")
        #expect(loop.state == [0, 1, 0, 2])
    }
}

import LoopCompatibility
import LoopCore
import Testing

@Suite struct `Definitions with a transition` {
    /// Implements `reduce` with a transition, and no other.
    private struct Numbered: LoopDefinition {
        static let name = "numbered"
        let initial: [UInt64] = []
        func reduce(_ state: inout [UInt64], _ event: String, _ transition: Transition) {
            state.append(transition.seq.value)
        }
        var feedbacks: [Feedback<[UInt64], String>] { [] }
    }

    /// Implements both: a loop calls the one with a transition, a part of another loop the one without.
    private struct Both: LoopDefinition {
        static let name = "both"
        let initial: [UInt64] = []
        func reduce(_ state: inout [UInt64], _ event: String) { state.append(0) }
        func reduce(_ state: inout [UInt64], _ event: String, _ transition: Transition) {
            state.append(transition.seq.value)
        }
        var feedbacks: [Feedback<[UInt64], String>] { [] }
    }

    @Test func `need no other reduce`() {
        let loop = Loop(Numbered())
        loop.send("a")
        loop.send("b")
        #expect(loop.state == [1, 2])
    }

    @Test func `may have both, of which a loop calls the one with the transition`() {
        let loop = Loop(Both())
        loop.send("a")
        #expect(loop.state == [1])
        let part = Loop(initial: [], reducer: Reducer(Both()))
        part.send("a")
        #expect(part.state == [0])
    }
}

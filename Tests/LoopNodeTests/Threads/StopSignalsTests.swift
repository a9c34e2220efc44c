import LoopCore
import Testing

@testable import LoopNode

@Suite struct `Signals that ask a program to end` {
    @Test func `belong to the first one for half a second, and end the program at once later`() {
        var signals = StopSignals()
        let start = MonotonicTime.zero
        let meanings = [0, 1, 499, 500, 9000].map { signals.take(at: start + .milliseconds($0)) }
        #expect(meanings == [.first, .same, .same, .later, .later])
    }
}

import LoopCore
import Testing

@testable import LoopNode

@Suite struct `The pace of turns` {
    @Test func `a turn is short where its records cost little, and longer where they are synced`() {
        #expect(TurnPace().drainDuration == .microseconds(250))
        #expect(TurnPace(after: [.microseconds(3)]).drainDuration == .microseconds(250))
        #expect(TurnPace(after: [.microseconds(400)]).drainDuration == .microseconds(1600))
        #expect(TurnPace(after: [.seconds(2)]).drainDuration == .milliseconds(5))
        #expect(TurnPace(after: [.seconds(2), .zero]).drainDuration == .microseconds(250))
    }

    @Test func `one slow sync makes no turn longer, and slow ones for a while do`() {
        var pace = TurnPace(after: [.microseconds(400)])
        for _ in 0..<15 {
            pace.note(closing: .milliseconds(1))
            #expect(pace.drainDuration == .microseconds(1600))
        }
        pace.note(closing: .milliseconds(1))
        #expect(pace.drainDuration == .milliseconds(4))
    }
}

extension TurnPace {
    fileprivate init(after closings: [Duration]) {
        self.init()
        for closing in closings { note(closing: closing) }
    }
}

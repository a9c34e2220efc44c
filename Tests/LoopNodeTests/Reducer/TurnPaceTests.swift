import LoopCore
import Testing

@testable import LoopNode

@Suite struct `The pace of turns` {
    @Test func `a turn is short where its records cost little, and longer where they are synced`() {
        var pace = TurnPace()
        #expect(pace.drainDuration == .microseconds(250))
        pace.note(closing: .microseconds(3))
        #expect(pace.drainDuration == .microseconds(250))
        pace.note(closing: .microseconds(400))
        #expect(pace.drainDuration == .microseconds(1600))
        pace.note(closing: .seconds(2))
        #expect(pace.drainDuration == .milliseconds(5))
        pace.note(closing: .zero)
        #expect(pace.drainDuration == .microseconds(250))
    }
}

import LoopCore
import LoopExamples
import LoopTesting
import Testing

@Suite struct `The counter` {
    @Test func `counts up and down and starts again`() throws {
        try TestLoop.run(Counter()) { loop in
            try loop.send(.increment) { $0.count = 1 }
            try loop.send(.increment) { $0.count = 2 }
            try loop.send(.decrement) { $0.count = 1 }
            try loop.send(.reset) { $0.count = 0 }
            try loop.send(.decrement) { $0.count = -1 }
        }
    }

    @Test func `shows an event when send returns`() {
        let loop = Loop(Counter())
        for _ in 0..<10 { loop.send(.increment) }
        #expect(loop.state.count == 10)
        #expect(loop.seq == Seq(10))
    }
}

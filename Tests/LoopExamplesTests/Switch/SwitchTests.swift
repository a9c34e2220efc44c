import LoopCore
import LoopSimulation
import LoopTesting
import Testing

@testable import LoopExamples

@Suite struct `The switch` {
    @Test func `cancels a child's effects when it is left, and starts them again when it is entered`() throws {
        try TestLoop.run(Switch()) { loop in
            let red = try loop.expectStart("red", TrafficLight.State.red)
            try red.complete(sending: .light(.next)) { $0 = .light(.green) }
            let green = try loop.expectStart("green", TrafficLight.State.green)

            try loop.send(.flip) { $0 = .counter(.init(count: 0)) }
            try loop.expectCancel(green)
            try green.send(.light(.next), refused: .stale)
            try loop.send(.counter(.increment)) { $0 = .counter(.init(count: 1)) }

            try loop.send(.flip) { $0 = .light(.red) }
            let again = try loop.expectStart("red")
            try loop.send(.flip) { $0 = .counter(.init(count: 0)) }
            try loop.expectCancel(again)
        }
    }

    @Test func `takes no notice of events for a child that is not there`() throws {
        try TestLoop.run(Switch()) { loop in
            let red = try loop.expectStart("red")
            try loop.send(.counter(.increment))
            try loop.send(.counter(.reset))
            try red.complete(sending: .light(.next)) { $0 = .light(.green) }
            try loop.expectStart("green")
        }
    }

    @Test func `has a timer while the light is there`() {
        let clock = VirtualClock()
        let loop = Loop(Switch(clock: clock), clock: clock)
        clock.advance(by: .milliseconds(2500))
        #expect(loop.state == .light(.yellow) && clock.sleepersCount == 1)
        loop.send(.flip)
        // If the light's timer had continued, it would now be red.
        clock.advance(by: .milliseconds(500))
        #expect(loop.seq == Seq(3) && clock.sleepersCount == 0)
        loop.send(.flip)
        #expect(loop.state == .light(.red))
        clock.advance(by: .seconds(1))
        #expect(loop.state == .light(.green))
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `no timer outlives its child, whatever fails`(seed: UInt64) throws {
        let cluster = SimulatedCluster(Switch(), seed: seed)
        for colour in TrafficLight.State.allCases {
            cluster.answer(colour.rawValue) { (_: TrafficLight.State, effect: inout SimulatedEffect) in
                effect.pause(.seconds(1))
                effect.send(.light(.next))
            }
        }
        cluster.client(every: .milliseconds(1700)) { _ in .flip }
        let end = try cluster.run()
        // Only timers send the light's events: one that comes to the counter has outlived its light.
        var isLight = true
        for event in end.events {
            switch event {
            case .flip: isLight.toggle()
            case .light: #expect(isLight)
            case .counter: Issue.record("nothing counts")
            }
        }
        #expect(end.events.count > 10)
    }
}

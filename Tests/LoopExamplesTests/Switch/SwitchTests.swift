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

            try loop.send(.flip) { $0 = .stopwatch(.init(seconds: 0)) }
            try loop.expectCancel(green)
            let second = try loop.expectStart("second", 0)
            try green.send(.light(.next), refused: .stale)
            try second.complete(sending: .stopwatch(.tick)) { $0 = .stopwatch(.init(seconds: 1)) }
            let third = try loop.expectStart("second", 1)

            try loop.send(.flip) { $0 = .light(.red) }
            try loop.expectCancel(third)
            try loop.expectStart("red")
        }
    }

    @Test func `takes no notice of events for a child that is not there`() throws {
        try TestLoop.run(Switch()) { loop in
            try loop.expectStart("red")
            try loop.send(.stopwatch(.tick))
            try loop.send(.stopwatch(.reset))
        }
    }

    @Test func `leaves a child's effects alone when the child's state stays as it is`() throws {
        var definition = Switch()
        definition.initial = .stopwatch(.init(seconds: 0))
        try TestLoop.run(definition) { loop in
            let second = try loop.expectStart("second", 0)
            try loop.send(.light(.next))
            try loop.send(.stopwatch(.reset))
            try second.complete(sending: .stopwatch(.tick)) { $0 = .stopwatch(.init(seconds: 1)) }
            try loop.expectStart("second", 1)
        }
    }

    @Test func `has one timer, of the child that is there`() {
        let clock = VirtualClock()
        let loop = Loop(Switch(clock: clock), clock: clock)
        clock.advance(by: .milliseconds(2500))
        #expect(loop.state == .light(.yellow) && clock.sleepersCount == 1)
        loop.send(.flip)
        // If the light's timer had continued, it would now be red.
        clock.advance(by: .milliseconds(500))
        #expect(loop.seq == Seq(3))
        clock.advance(by: .milliseconds(2500))
        #expect(loop.state == .stopwatch(.init(seconds: 3)) && clock.sleepersCount == 1)
        loop.send(.flip)
        #expect(loop.state == .light(.red))
        clock.advance(by: .seconds(1))
        #expect(loop.state == .light(.green))
    }

    @Test func `a stopwatch that is reset starts its second again`() {
        let clock = VirtualClock()
        let loop = Loop(Switch(clock: clock), clock: clock)
        loop.send(.flip)
        clock.advance(by: .seconds(2))
        loop.send(.stopwatch(.reset))
        #expect(loop.state == .stopwatch(.init(seconds: 0)))
        clock.advance(by: .milliseconds(999))
        #expect(loop.state == .stopwatch(.init(seconds: 0)))
        clock.advance(by: .milliseconds(1))
        #expect(loop.state == .stopwatch(.init(seconds: 1)))
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
        cluster.answer("second") { (_: Int, effect: inout SimulatedEffect<Switch.Event>) in
            effect.pause(.seconds(1))
            effect.send(.stopwatch(.tick))
        }
        cluster.client(every: .milliseconds(1700)) { _ in .flip }
        let end = try cluster.run()
        // Only timers send the children's events: one that comes to the other child has outlived its own.
        var isLight = true
        for event in end.events {
            switch event {
            case .flip: isLight.toggle()
            case .light: #expect(isLight)
            case .stopwatch: #expect(!isLight)
            }
        }
        #expect(end.events.count > 10)
    }
}

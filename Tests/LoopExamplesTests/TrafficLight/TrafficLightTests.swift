import LoopCore
import LoopExamples
import LoopSimulation
import LoopTesting
import Testing

@Suite struct `The traffic light` {
    @Test func `hands on from colour to colour, one timer at a time`() throws {
        try TestLoop.run(TrafficLight()) { loop in
            var on = TrafficLight.State.red
            for next in [TrafficLight.State.green, .yellow, .red, .green] {
                let timer = try loop.expectStart(on.rawValue, on)
                try timer.complete(sending: .next) { $0 = next }
                on = next
            }
            try loop.expectStart("green")
        }
    }

    @Test func `gives up the wait of a colour that is left by hand`() throws {
        try TestLoop.run(TrafficLight()) { loop in
            let red = try loop.expectStart("red")
            try loop.send(.next) { $0 = .green }
            try loop.expectCancel(red)
            try loop.expectStart("green")
            try red.send(.next, refused: .stale)
        }
    }

    @Test func `goes on from the colour that it had`() throws {
        var light = TrafficLight()
        light.initial = .yellow
        try TestLoop.run(light) { loop in
            try loop.expectStart("yellow").complete(sending: .next) { $0 = .red }
            try loop.expectStart("red")
        }
    }

    @Test func `changes each second, for an hour`() {
        let clock = VirtualClock()
        let loop = Loop(TrafficLight(clock: clock), clock: clock)
        clock.advance(by: .milliseconds(999))
        #expect(loop.state == .red)
        clock.advance(by: .milliseconds(1))
        #expect(loop.state == .green)
        clock.advance(by: .seconds(3600))
        #expect(loop.seq == Seq(3601) && loop.state == .green)
        #expect(clock.sleepersCount == 1)
    }

    @Test(arguments: 0..<5 as Range<UInt64>) func `gives each colour its second, whatever fails`(seed: UInt64) throws {
        let cluster = SimulatedCluster(TrafficLight(), seed: seed)
        for colour in TrafficLight.State.allCases {
            cluster.answer(colour.rawValue) { (_: TrafficLight.State, effect: inout SimulatedEffect) in
                effect.pause(.seconds(1))
                effect.send(.next)
            }
        }
        let end = try cluster.run()
        #expect(end.events.count >= 5)
        // Not one event too many, of a timer that was begun again after its light had changed.
        #expect(end.events.count <= Int(end.duration / .seconds(1)))
    }
}

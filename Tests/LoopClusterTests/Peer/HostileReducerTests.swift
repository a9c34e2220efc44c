import LoopCluster
import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `A reducer that is broken, or no reducer at all` {
    @Test func `G12 cannot send a peer away for longer than a minute, nor have it ask without a pause`() {
        for (asked, waits) in [(Duration.milliseconds(1 << 40), Int64(60_000)), (.zero, 100), (.seconds(5), 5000)] {
            var bench = PeerBench()
            let hello = bench.wait()
            _ = bench.reply(.introduction(PeerBench.introduction))
            let join = bench.wait()
            #expect(bench.reply(.busy(to: .join, retryAfter: asked, reason: "")) == [])
            #expect(bench.machine.deadline == bench.now + .milliseconds(waits))
            // After a pause above the silence limit it begins with a hello.
            if waits < 3000 { #expect(bench.wait(waits - 1) == []) }
            #expect(bench.wait(waits < 3000 ? 1 : waits) == (waits < 3000 ? join : hello))
        }
    }

    @Test func `G12 cannot have a peer send heartbeats without a pause`() {
        var bench = PeerBench()
        _ = bench.wait()
        _ = bench.reply(.introduction(PeerBench.introduction))
        _ = bench.publish(.joinAccepted(watermark: 0, silenceLimit: .zero, tickInterval: .zero))
        _ = bench.reply(.assignments(Assignments(number: 0, watermark: 0, grants: [])))
        _ = bench.wait()
        #expect(bench.machine.deadline == bench.now + .milliseconds(5))
    }

    @Test func `asks for a silence limit and a tick interval within bounds`() {
        let least = ReducerTerms(silenceLimit: .zero, tickInterval: .zero)
        #expect(least.silenceLimit == .milliseconds(20))
        #expect(least.tickInterval == .milliseconds(5))
        let most = ReducerTerms(silenceLimit: .milliseconds(1 << 40), tickInterval: .milliseconds(1 << 40))
        #expect(most.silenceLimit == .seconds(3600))
        #expect(most.tickInterval == .seconds(10))
        let usual = ReducerTerms(silenceLimit: .seconds(3), tickInterval: .milliseconds(500))
        #expect((usual.silenceLimit, usual.tickInterval) == (.seconds(3), .milliseconds(500)))
    }

    @Test func `G12 that names addresses that cannot be used is asked again after a second`() {
        var bench = PeerBench()
        let hello = bench.wait()
        _ = bench.reply(.introduction(PeerBench.introduction))
        bench.machine.couldNotConnect()
        #expect(bench.wait(999) == [])
        #expect(bench.wait(1) == hello)
    }
}

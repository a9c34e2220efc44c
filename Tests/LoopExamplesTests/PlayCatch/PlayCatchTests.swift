import LoopCore
import LoopExamples
import LoopSimulation
import LoopTesting
import Testing

@Suite struct `Play catch` {
    @Test func `the machine throws back whenever it has the ball`() throws {
        try TestLoop.run(PlayCatch()) { loop in
            for throwsCount in 0..<3 {
                try loop.send(.throwToMachine) {
                    $0.holder = .machine
                    $0.catches = 2 * throwsCount + 1
                }
                try loop.expectStart("machine").complete(sending: .throwToPerson) {
                    $0.holder = .person
                    $0.catches = 2 * throwsCount + 2
                }
            }
        }
    }

    @Test func `no player throws a ball without having it`() throws {
        try TestLoop.run(PlayCatch()) { loop in
            try loop.send(.throwToPerson)
            try loop.send(.throwToMachine) {
                $0.holder = .machine
                $0.catches = 1
            }
            try loop.expectStart("machine")
            // The machine goes on holding it: no second effect, none cancelled.
            try loop.send(.throwToMachine)
        }
    }

    @Test func `the machine that has the ball at the start throws it`() throws {
        var game = PlayCatch()
        game.initial.holder = .machine
        try TestLoop.run(game) { loop in
            try loop.expectStart("machine").complete(sending: .throwToPerson) {
                $0.holder = .person
                $0.catches = 1
            }
        }
    }

    @Test func `the machine holds the ball for a second`() {
        let clock = VirtualClock()
        let loop = Loop(PlayCatch(clock: clock), clock: clock)
        clock.advance(by: .seconds(60))
        #expect(loop.seq == .initial)
        loop.send(.throwToMachine)
        clock.advance(by: .milliseconds(999))
        #expect(loop.state.holder == .machine)
        clock.advance(by: .milliseconds(1))
        #expect(loop.state.holder == .person && loop.state.catches == 2)
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `the ball always comes back, whichever process dies with it`(seed: UInt64) throws {
        let cluster = SimulatedCluster(PlayCatch(), seed: seed)
        cluster.answer("machine") { (_: PlayCatch.State, effect: inout SimulatedEffect<PlayCatch.Event>) in
            effect.pause(.seconds(1))
            effect.send(.throwToPerson)
        }
        cluster.client(every: .seconds(2)) { _ in .throwToMachine }
        cluster.invariant("who has the ball follows from how often it was thrown") {
            ($0.holder == .person) == $0.catches.isMultiple(of: 2)
        }
        let end = try cluster.run()
        #expect(end.state.holder == .person)
        // The machine never threw a ball that it did not have.
        #expect(end.events.count { $0 == .throwToPerson } * 2 == end.state.catches)
    }
}

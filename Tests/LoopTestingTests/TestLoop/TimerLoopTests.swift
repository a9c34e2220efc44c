import LoopCore
import LoopSimulation
import LoopTesting
import Testing

/// Orders that expire ten minutes after they were placed, unless they are paid.
struct Orders: LoopDefinition {
    struct Order: Codable, Equatable, Sendable {
        var expires: WallTime?
    }

    struct State: Codable, Equatable, Sendable {
        var orders: TrackedDictionary<Int, Order> = [:]
        var expired: [Int] = []
        /// When the last event was, in seconds.
        var seconds: Int64 = 0
    }

    enum Event: Codable, Equatable, Sendable {
        case placed(Int)
        case prolonged(Int)
        case paid(Int)
        case expired(Int)
    }

    static let name = "orders"
    var patience = Duration.seconds(600)
    let initial = State()

    func reduce(into state: inout State, _ event: Event, _ transition: Transition) {
        state.seconds = transition.time.milliseconds / 1000
        switch event {
        case .placed(let order), .prolonged(let order):
            state.orders[order] = Order(expires: transition.time + patience)
        case .paid(let order): state.orders[order]?.expires = nil
        case .expired(let order):
            state.orders[order] = nil
            state.expired.append(order)
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        [.timer("deadline", of: \.orders, at: \.expires) { .expired($0) }]
    }
}

@Suite struct `Timers of a loop in this process` {
    @Test func `fire when the virtual clock has reached their time`() {
        let clock = VirtualClock(wallTime: WallTime(milliseconds: 1_700_000_000_000))
        let loop = Loop(Orders(), clock: clock)
        loop.send(.placed(1))
        clock.advance(by: .seconds(60))
        loop.send(.placed(2))
        loop.send(.placed(3))
        loop.send(.paid(2))
        clock.advance(by: .seconds(539))
        #expect(loop.state.expired == [])
        clock.advance(by: .seconds(1))
        #expect(loop.state.expired == [1])
        #expect(loop.state.seconds == 1_700_000_600)
        clock.run()
        #expect(loop.state.expired == [1, 3])
        #expect(loop.state.orders.keys.map { $0 } == [2])
        #expect(clock.now.offset == .seconds(660))
    }

    @Test func `that were moved do not fire for the old time`() {
        let clock = VirtualClock()
        let loop = Loop(Orders(), clock: clock)
        loop.send(.placed(1))
        clock.advance(by: .seconds(300))
        loop.send(.prolonged(1))
        clock.advance(by: .seconds(599))
        #expect(loop.state.expired == [])
        clock.advance(by: .seconds(1))
        #expect(loop.state.expired == [1])
    }

    @Test func `fire in the order of their times, and at once where these have passed`() {
        let clock = VirtualClock(wallTime: WallTime(milliseconds: 100))
        let times: [String: Int64] = ["b": 300, "a": 300, "late": 5, "first": 200]
        let loop = Loop<[String], String>(
            initial: [], reducer: { $0.append($1) },
            feedbacks: [
                .timer("t", at: { _ in times.mapValues { WallTime(milliseconds: $0) } }) { (key: String) in key }
            ],
            clock: clock, seed: 1)
        clock.settle()
        #expect(loop.state == ["late"])
        clock.advance(by: .seconds(1))
        #expect(loop.state == ["late", "first", "a", "b"])
    }

    @Test func `end with the loop`() {
        let clock = VirtualClock()
        let loop = Loop(Orders(), clock: clock)
        loop.send(.placed(1))
        loop.stop()
        clock.advance(by: .seconds(1000))
        #expect(loop.state.expired == [])
        #expect(clock.sleepersCount == 0)
    }

    @Test func `are pulled back with their feedback, and go with the part`() {
        struct Whole: Equatable, Sendable { var part: Orders.State? = Orders.State() }
        let clock = VirtualClock()
        let feedbacks: [Feedback<Whole, Orders.Event>] = Orders().feedbacks.map {
            $0.pullback(part: "shop", optionalValue: { $0.part }, embedEvent: { $0 }, extractEvent: { $0 })
        }
        let loop = Loop<Whole, Orders.Event>(
            initial: Whole(),
            reducer: { whole, event in
                guard case .placed(let order) = event else {
                    whole.part = nil
                    return
                }
                whole.part?.orders[order] = Orders.Order(expires: WallTime(milliseconds: Int64(order) * 1000))
            }, feedbacks: feedbacks, clock: clock, seed: 1)
        loop.send(.placed(1))
        loop.send(.placed(2))
        clock.advance(by: .seconds(10))
        #expect(loop.state.part == nil)
        #expect(loop.seq == Seq(3))
    }

    @Test func `follow the clock of the system where no other is given`() async {
        let loop = Loop<[WallTime], WallTime>(
            initial: [], reducer: { $0.append($1) },
            feedbacks: [
                .timer("t", at: { _ in ["a": WallTime(milliseconds: 1)] }) { (_: String) in WallTime(milliseconds: 7) }
            ]
        )
        for await state in loop.states where !state.isEmpty { break }
        #expect(loop.state == [WallTime(milliseconds: 7)])
    }
}

@Suite struct `Timers under test` {
    @Test func `are asserted when they are set, moved and cleared, and fire as the time passes`() throws {
        let start = WallTime(milliseconds: 1_000_000)
        try TestLoop.run(Orders(), wallTime: start) { loop in
            try loop.send(.placed(1)) {
                $0.orders[1] = Orders.Order(expires: start + .seconds(600))
                $0.seconds = 1000
            }
            let first = try loop.expectTimer("deadline", for: 1, at: start + .seconds(600))
            try loop.advance(by: .seconds(100))
            try loop.send(.prolonged(1)) {
                $0.orders[1] = Orders.Order(expires: start + .seconds(700))
                $0.seconds = 1100
            }
            try loop.expectCancel(first)
            try loop.expectTimer("deadline", for: 1, at: start + .seconds(700))
            try loop.advance(by: .seconds(599))
            #expect(try loop.advance() == .seconds(1))
            #expect(loop.wallTime == start + .seconds(700))
            try loop.expectEvent(.expired(1)) {
                $0.orders[1] = nil
                $0.expired = [1]
                $0.seconds = 1700
            }
        }
    }

    @Test func `that a test does not assert fail it`() throws {
        let failure = #expect(throws: TestLoopFailure.self) {
            try TestLoop.run(Orders(), mode: .withoutStates) { loop in try loop.send(.placed(1)) }
        }
        #expect("\(failure.map { "\($0)" } ?? "")".contains("was set (expectTimer)"))
    }
}

@Suite struct `Timers in a simulated cluster` {
    @Test(arguments: 0..<6 as Range<UInt64>) func `fire once each, whatever fails`(seed: UInt64) throws {
        let cluster = SimulatedCluster(
            Orders(patience: .seconds(2)), seed: seed, faults: .all, workers: 1, duration: .seconds(10))
        for order in 0..<20 { cluster.send(.placed(order), at: .milliseconds(100 * order)) }
        cluster.invariant("nothing expires twice") { Set($0.expired).count == $0.expired.count }
        let end = try cluster.run()
        #expect(!end.state.expired.isEmpty)
        #expect(end.checks["G15", default: 0] >= end.state.expired.count)
    }
}

import LoopCore
import LoopNode
import LoopWire
import Testing
import ZMQ

/// One effect that says how far it is, and waits at a door.
private struct Reading: LoopDefinition {
    struct State: Codable, Sendable, Equatable { var unread = [1: 1] }
    enum Event: Codable, Sendable { case read }

    static let name = "reading"
    let initial = State()
    let door: Door
    let placement: Placement

    func reduce(into state: inout State, _ event: Event, _: Transition) { state.unread = [:] }

    var feedbacks: [Feedback<State, Event>] {
        let door = door
        return [
            .react("read", requests: \.unread) { (_: Int, context) in
                .run { send in
                    for page in 1...40 { context.progress(Double(page) / 100, "page \(page)\u{1b}[2J") }
                    try await door.pass()
                    try await send(.read)
                }
            }
            .on(placement)
        ]
    }

    func outcome(of state: State) -> Outcome? { state.unread.isEmpty ? Outcome(text: "read") : nil }
}

@Suite(.timeLimit(.minutes(5))) struct `Progress of an effect` {
    @Test(arguments: [Placement.local, .workers])
    func `is known to handles while the effect runs`(placement: Placement) async throws {
        let context = try ZMQContext()
        let address: ReducerAddress = "inproc://progress"
        let reading = Reading(door: Door(), placement: placement)
        let reducer = try ReducerNode(reading, configuration: .test(address, context))
        let worker = try EffectNode(reading, configuration: .test(address, context, "reader"))
        async let outcome = reducer.run()
        async let end = placement == .local ? NodeEnd.stopped : worker.run()
        let remote = try RemoteLoop(Reading.self, reducer: address, context: context, log: .silent)
        var reports: [StatusReport.EffectReport] = []
        // The reducer's word, which comes with a heartbeat.
        while reports.first?.fraction != 0.4 {
            reports = try await remote.effectReports()
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(reports.map(\.feedback) == ["read"])
        #expect(reports.map(\.text) == ["page 40\u{1b}[2J"])
        reading.door.open()
        _ = try await (outcome, end)
        await remote.close()
    }

    @Test func `is known in one process`() async throws {
        let reading = Reading(door: Door(), placement: .workers)
        let loop = Loop(reading)
        while loop.effectProgress.values.first?.fraction != 0.4 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(loop.effectProgress.values.map(\.text) == ["page 40\u{1b}[2J"])
        reading.door.open()
        for await _ in loop.states {}
        #expect(loop.effectProgress.isEmpty)
    }
}

import LoopCore
import LoopNodeTesting
import LoopSimulation
import LoopTesting
import Testing

/// Four jobs, none of which succeeds.
private struct Mishaps: LoopDefinition {
    enum Job: String, Codable, CaseIterable, Sendable {
        /// Each attempt throws an error.
        case broken
        /// The first attempt throws an error that no other attempt can mend.
        case hopeless
        /// No attempt ends.
        case slow
        /// Each attempt throws an error, and there is no event for it.
        case unheard
    }

    struct State: Codable, Equatable, Sendable {
        var jobs = Dictionary(uniqueKeysWithValues: Job.allCases.map { ($0.rawValue, $0) })
        var ends: [String: String] = [:]
    }

    struct Event: Codable, Equatable, Sendable {
        var job: Job
        var end: String
    }

    static let name = "mishaps"
    let initial = State()

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        state.jobs[event.job.rawValue] = nil
        state.ends[event.job.rawValue] = event.end
    }

    // Only the job that never ends has a limit that a busy machine can reach.
    var feedbacks: [Feedback<State, Event>] {
        [
            Self.feedback("job", timeout: .seconds(86_400)) { $0 != .slow },
            Self.feedback("slow", timeout: .milliseconds(200)) { $0 == .slow },
        ]
    }

    private static func feedback(
        _ name: String, timeout: Duration, _ isIncluded: @escaping @Sendable (Job) -> Bool
    ) -> Feedback<State, Event> {
        .react(name, requests: { $0.jobs.filter { isIncluded($0.value) } }) { (job: Job) in
            .run { _ in try await Self.run(job) }
        }
        .on(.workers)
        .retry(.exponential(max: 2, first: .milliseconds(10)))
        .timeout(timeout)
        .failing { (job: Job, failure) in
            job == .unheard ? nil : Event(job: job, end: "\(failure.cause): \(failure)")
        }
    }

    private static func run(_ job: Job) async throws {
        if let error = error(of: job) { throw error }
        try await Task.sleep(for: .seconds(86_400))
    }

    static func error(of job: Job) -> (any Error)? {
        switch job {
        case .broken, .unheard: Broken()
        case .hopeless: Hopeless()
        case .slow: nil
        }
    }

    static let ends = [
        "broken": "failed: Broken()", "hopeless": "failed: Hopeless", "slow": "timedOut: no end within 0.2 seconds",
    ]
}

private struct Broken: Error {}

private struct Hopeless: RetryAdvice, CustomStringConvertible {
    let isTransient = false
    let retryAfter: Duration? = nil
    let description = "Hopeless"
}

/// Whatever ends the last attempt, the feedback's `failing` hears the same of it, wherever the loop runs.
@Suite(.timeLimit(.minutes(5))) struct `The last failure of an effect` {
    @Test func `is heard in a process`() async throws {
        let loop = Loop(Mishaps())
        for await state in loop.states where state.ends.count == 3 {
            #expect(state.ends == Mishaps.ends)
            break
        }
        while loop.parked.isEmpty { await Task.yield() }
        #expect(loop.parked.map(\.reason) == ["Broken()"])
        #expect(loop.parked.map(\.failures) == [2])
        loop.stop()
    }

    @Test func `is heard in a TestLoop`() throws {
        try TestLoop.run(Mishaps(), mode: .selective) { loop in
            for _ in 1...2 {
                for effect in loop.effects("job") where effect.isRunning {
                    let job = try effect.request(as: Mishaps.Job.self)
                    if let error = Mishaps.error(of: job) { try effect.fail(error) }
                }
                // Long enough for the next try, and too short for a timeout.
                try loop.advance(by: .milliseconds(50))
            }
            try loop.advance(by: .seconds(1))
            #expect(loop.state.ends == Mishaps.ends)
            #expect(loop.parked.map(\.reason) == ["Broken()"])
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>) func `is heard in a simulated cluster`(seed: UInt64) throws {
        let cluster = SimulatedCluster(
            Mishaps(), seed: seed, faults: seed == 0 ? .none : .network + .processes, duration: .seconds(10))
        cluster.answer("job") { (job: Mishaps.Job, effect: inout SimulatedEffect<Mishaps.Event>) in
            if let error = Mishaps.error(of: job) { effect.fail(error) }
        }
        cluster.answer("slow") { (_: Mishaps.Job, effect: inout SimulatedEffect<Mishaps.Event>) in
            effect.runForever()
        }
        let end = try cluster.run()
        #expect(end.state.ends == Mishaps.ends)
        #expect(Array(end.state.jobs.keys) == ["unheard"])
    }

    @Test func `is heard in a cluster`() async throws {
        try await LocalCluster.run(Mishaps(), workers: 2) { cluster in
            let (_, state) = try await cluster.until { $0.ends.count == 3 }
            #expect(state.ends == Mishaps.ends)
            let status = try await cluster.untilStatus { $0.parked.count == 1 }
            #expect(status.parked.map(\.message) == ["Broken()"])
            #expect(status.parked.map(\.failures) == [2])
        }
    }
}

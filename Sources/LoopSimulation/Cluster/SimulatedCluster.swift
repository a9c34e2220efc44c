import LoopCluster
public import LoopCore

/// A cluster that runs a loop under faults, in virtual time and in one thread. It has the reducer and the workers of production,
/// and a checker for each promise. The network, the disks and the processes fail like real ones. The seed decides everything.
///
/// ```swift
/// @Test(arguments: 0..<20 as Range<UInt64>) func `the report is the same whatever fails`(seed: UInt64) throws {
///     let cluster = SimulatedCluster(LinkCheck(settings: settings), seed: seed, faults: .all)
///     cluster.answer("fetch") { (job: FetchJob, effect: inout SimulatedEffect<LinkCheck.Event>) in
///         effect.pause(upTo: .seconds(2))
///         effect.send(site.answer(to: job))
///     }
///     cluster.invariant("nothing is done that was not found") { state in state.doneCount <= state.foundCount }
///     let end = try cluster.run()
///     #expect(end.outcome?.exitCode == 1)
/// }
/// ```
///
/// A run is over when the loop has ended and every process knows, or when it has come to rest after the faults. A loop that does
/// not rest within a minute is stopped: effects and clients do nothing more, and everything that was sent must settle.
///
/// The cluster itself answers effects that only send events. All others need an ``answer(_:_:)``.
public final class SimulatedCluster<Definition: LoopDefinition> {
    /// The state of the loop under test.
    public typealias State = Definition.State
    /// The events of the loop under test.
    public typealias Event = Definition.Event

    private let definition: Definition
    private let faults: Faults
    private let workers: Int
    private let clients: Int
    private let scenario: Scenario
    private var answers: [String: AnsweredWorkload<Definition>.Answer] = [:]
    private var invariants: [(name: String, holds: @Sendable (State) -> Bool)] = []
    private var clientPlans: [Int: ClientPlan<Event>] = [:]
    private var timeline: [(time: UInt64, what: TimelineEntry)] = []
    private var mistakes: [String] = []

    /// - Parameters:
    ///   - definition: the loop to run.
    ///   - seed: the seed of all random decisions.
    ///   - faults: what may fail. Each seed draws its own faults from them.
    ///   - workers: the number of worker processes.
    ///   - clients: the number of client processes, which send the events of `client` and `send`.
    ///   - duration: how long faults come, in whole milliseconds, at least one.
    ///   - withoutFaults: the numbers of omitted faults, such as "0-3,7", as a shrunk failure prints them.
    ///   - simpler: the ways in which the run is simpler than the seed's own, such as "fast-network,one-worker", as a shrunk
    ///     failure prints them.
    public init(
        _ definition: Definition, seed: UInt64, faults: Faults = .all, workers: Int = 3, clients: Int = 1,
        duration: Duration = .seconds(20), withoutFaults: String = "", simpler: String = ""
    ) {
        precondition(workers >= 0 && clients >= 0, "a cluster has no \(workers) workers and \(clients) clients")
        self.definition = definition
        self.faults = faults
        self.workers = workers
        self.clients = clients
        let milliseconds = max(1, Int(clamping: duration.wholeNanoseconds) / 1_000_000)
        var scenario = Scenario(seed: seed, seconds: milliseconds / 1000)
        scenario.milliseconds = milliseconds % 1000
        if !withoutFaults.isEmpty {
            guard let ranges = NumberRanges(withoutFaults) else {
                preconditionFailure("withoutFaults takes numbers such as 0-3,7, not \(withoutFaults)")
            }
            scenario.withoutFaults = ranges.numbers
        }
        if !simpler.isEmpty {
            let found = Scenario.simplifications(simpler)
            scenario.simpler = found.known
            let known = Self.simplifications.map(\.rawValue).joined(separator: ", ")
            mistakes += found.unknown.map { "simpler takes some of \(known), not \($0)" }
        }
        self.scenario = scenario
    }

    /// Changes the sizes and limits of the cluster that the seed has drawn.
    package var planning: @Sendable (inout SimulationPlan) -> Void = { _ in }

    /// Sets the behaviour of the effects of a feedback. The type of the requests is that of the closure's parameter. The closure is
    /// called at each attempt.
    /// - Parameters:
    ///   - feedback: the name of the feedback.
    ///   - body: adds the steps of one attempt.
    public func answer<Request: Sendable>(
        _ feedback: String, _ body: @escaping @Sendable (Request, inout SimulatedEffect<Event>) -> Void
    ) {
        if !definition.allFeedbacks.contains(where: { $0.name == feedback }) {
            let names = definition.allFeedbacks.map { "\"\($0.name)\"" }.joined(separator: ", ")
            mistakes.append("there is no feedback \"\(feedback)\" to be answered; the loop has \(names)")
        }
        answers[feedback] = { request, effect in
            guard let request = request as? Request else {
                return
                    "the answer for the feedback \"\(feedback)\" takes a \(Request.self), and its requests are of type"
                    + " \(type(of: request))"
            }
            body(request, &effect)
            return nil
        }
    }

    /// Adds a condition that every state must meet that the accepted events make. States are checked in their order.
    public func invariant(_ name: String, _ holds: @escaping @Sendable (State) -> Bool) {
        invariants.append((name, holds))
    }

    /// Sends an event from a client at a given time.
    /// - Parameters:
    ///   - event: the event to send.
    ///   - time: the time since the start of the run.
    ///   - number: the number of the client, from 0.
    public func send(_ event: Event, at time: Duration, client number: Int = 0) {
        demand(number)
        clientPlans[number, default: ClientPlan()].send(event, at: UInt64(max(0, time.wholeNanoseconds)))
    }

    /// Sends events from a client repeatedly while faults come, at this mean interval.
    /// - Parameters:
    ///   - number: the number of the client, from 0.
    ///   - interval: the mean time between two events.
    ///   - event: makes the next event.
    public func client(
        _ number: Int = 0, every interval: Duration, _ event: @escaping @Sendable (inout SeededRandom) -> Event
    ) {
        demand(number)
        clientPlans[number, default: ClientPlan()].send(every: UInt64(max(1, interval.wholeNanoseconds)), event)
    }

    private func demand(_ client: Int) {
        if !(0..<clients).contains(client) {
            mistakes.append("there is no client \(client) to send anything; the cluster has \(clients), from number 0")
        }
    }

    /// Plans faults at a given time, independent of the seed.
    public func at(_ time: Duration, _ what: (inout Timeline) -> Void) {
        var told = Timeline()
        what(&told)
        timeline += told.all.map { (UInt64(max(0, time.wholeNanoseconds)), $0) }
    }

    /// Runs the cluster to the end.
    /// - Throws: ``SimulationFailure`` for the first broken promise or invariant, and how to run it again.
    public func run() throws(SimulationFailure) -> SimulationEnd<Definition> {
        let make = maker()
        let again = Self.again(make, faults)
        if let mistake = mistakes.first {
            throw SimulationFailure(
                scenario: scenario, step: 0, time: "0", violation: Violation(.usage, mistake), transcript: [],
                faultCount: 0, again: again)
        }
        let engine = make(scenario, false)
        if let failure = Simulation.failure(of: engine, again: again) { throw failure }
        return SimulationEnd(engine)
    }

    /// Runs the cluster to the end and returns every message.
    /// - Throws: ``SimulationFailure`` for the first broken promise or invariant.
    package func conversation() throws(SimulationFailure) -> [String] {
        var scenario = scenario
        scenario.transcriptLines = .max
        scenario.simpler.insert(.noObservers)
        let make = maker()
        let engine = make(scenario, true)
        if let failure = Simulation.failure(of: engine, again: Self.again(make, faults)) { throw failure }
        var conversation = Conversation(engine, isWhole: false)
        return conversation.lines()
    }

    /// The simpler plans that matter to a definition under test.
    private static var simplifications: [Scenario.Simplification] {
        [.oneWorker, .fastNetwork, .fastDisk, .noObservers]
    }

    private typealias Engine = World<AnsweredWorkload<Definition>>

    /// Makes the function that makes the cluster of a scenario, as described so far.
    private func maker() -> @Sendable (Scenario, _ records: Bool) -> Engine {
        let (definition, faults, workers, clients, planning) = (definition, faults, workers, clients, planning)
        let (answers, invariants, clientPlans, timeline) = (answers, invariants, clientPlans, timeline)
        // Faults last at least until the last planned event.
        let last = max(clientPlans.values.map(\.lastTime).max() ?? 0, timeline.map(\.time).max() ?? 0)
        return { scenario, records in
            var (plan, random) = SimulationPlan.drawn(scenario, faults)
            plan.workerCount = scenario.simpler.contains(.oneWorker) ? min(1, workers) : workers
            plan.clientCount = clients
            plan.addObservers(1, scenario, sections: definition.sections.count, parts: [nil, 4096])
            plan.keeping = .fsync
            plan.hasShadow = true
            plan.buildReplacedAt = 0
            plan.sessionRetention = .seconds(600)
            plan.faultPhase = max(plan.faultPhase, .nanoseconds(Int64(clamping: last)) + .seconds(1))
            planning(&plan)
            let work = AnsweredWorkload(
                definition, answers: answers, invariants: invariants, clients: clientPlans, restLimit: .seconds(60))
            return Engine(scenario, plan: (plan, random), work: work, timeline: timeline, records: records)
        }
    }

    private static func again(
        _ make: @escaping @Sendable (Scenario, Bool) -> Engine, _ faults: Faults
    ) -> Again {
        Again(
            command: { $0.line(Definition.self) }, simplifications: simplifications,
            run: { scenario, records in
                Simulation.failure(of: make(scenario, records), again: again(make, faults), recording: false)
            })
    }
}

extension Scenario {
    /// The call that runs the scenario again, for a test.
    fileprivate func line<Definition>(_ definition: Definition.Type) -> String {
        var words = ["\(definition)(…)", "seed: \(seed)", "…"]
        words.append(
            milliseconds == 0
                ? "duration: .seconds(\(seconds))" : "duration: .milliseconds(\(1000 * seconds + milliseconds))")
        if !withoutFaults.isEmpty { words.append("withoutFaults: \"\(NumberRanges(withoutFaults))\"") }
        if !simpler.isEmpty { words.append("simpler: \"\(simplerText)\"") }
        return "SimulatedCluster(\(words.joined(separator: ", ")))"
    }
}

/// How a run of a simulated cluster ended.
public struct SimulationEnd<Definition: LoopDefinition>: Sendable {
    /// The state that the accepted events have made.
    public let state: Definition.State
    /// How many events were accepted.
    public let seq: Seq
    /// The loop's outcome, or nil if the loop has come to rest without one.
    public let outcome: Outcome?
    /// The events that were applied, in order.
    public let events: [Definition.Event]
    /// How often each kind of fault took place, by its name.
    public let faults: [String: Int]
    /// How often each promise was checked, by its name.
    package let checks: [String: Int]
    /// The duration of the run, in virtual time.
    package let duration: Duration

    init(_ engine: World<AnsweredWorkload<Definition>>) {
        state = engine.checkers.state
        seq = engine.checkers.seq
        outcome = engine.outcome
        let coder = engine.loop.coder
        events = (engine.storage.disk?.records ?? []).compactMap { record in
            guard case .event(let event) = record else { return nil }
            return try? coder.decode(Definition.Event.self, from: Array(event.bytes))
        }
        faults = Dictionary(uniqueKeysWithValues: engine.tally.faultCounts.map { ($0.key.rawValue, $0.value) })
        checks = Dictionary(uniqueKeysWithValues: engine.checkCounts.map { ($0.key.rawValue, $0.value) })
        duration = .nanoseconds(Int64(clamping: engine.now))
    }
}

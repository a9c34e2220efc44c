import LoopCluster
public import LoopCore
import LoopCollections
import LoopWire
import ZMQ

/// The process that owns the state of a loop. It orders events, grants effects to workers, and publishes states.
///
///     let outcome = try await ReducerNode(Traffic()).run()
public final class ReducerNode<Definition: LoopDefinition>: Sendable {
    private let definition: Definition
    private let configuration: ReducerNodeConfiguration
    private let mailbox: Mailbox<ReducerMail>
    private let isStopping = Locked(false)
    private let killSwitch = KillSwitch()

    /// - Throws: `NodeError.notSecured` if other machines can reach the address and neither keys nor the configuration allow
    ///   that. `NodeError.configuration` if the lease or the deadline of the journal is out of range. `NodeError.definition` if
    ///   a feedback cannot run with its placement.
    public init(
        _ definition: Definition, configuration: ReducerNodeConfiguration = ReducerNodeConfiguration()
    ) throws(NodeError) {
        guard configuration.bind.endpoint.isLocal || configuration.isInsecure || configuration.keys != nil else {
            // If the name has no address, this throws the clearer error.
            _ = try configuration.bind.lookedUp()
            throw .notSecured(configuration.bind)
        }
        try configuration.checkTimes()
        try Self.check(definition)
        self.definition = definition
        var configuration = configuration
        configuration.killSwitch = killSwitch
        configuration.tracer = configuration.traces.map { Tracer($0, loop: Definition.name, role: "reducer") }
        self.configuration = configuration
        do {
            mailbox = try Mailbox()
        } catch {
            throw .system("\(error)")
        }
    }

    /// Runs until the loop ends, `stop` is called, or the task is cancelled, which works as `stop` does.
    /// - Returns: the loop's outcome, or nil if it was stopped.
    public func run() async throws -> Outcome? { try await run { _ in } }

    /// Runs as `run` does, and calls `onEnd` with the end on the node's own thread.
    func run(onEnd: @escaping @Sendable (Result<Outcome?, any Error>) -> Void) async throws -> Outcome? {
        let (definition, configuration, mailbox, isStopping) = (definition, configuration, mailbox, isStopping)
        return try await NodeThread.run("loop-reducer", stop: { [self] in stop() }, onEnd: onEnd) {
            try configuration.tracer?.start(NodeLog(name: "reducer \(Definition.name)", configuration.log))
            defer { configuration.tracer?.stop() }
            do {
                var shell = try ReducerShell.start(
                    definition, configuration: configuration, mailbox: mailbox,
                    isStopping: { isStopping.withLock { $0 } })
                return try shell.run()
            } catch RecoveryError.stopped {
                return nil
            }
        }
    }

    /// Ends `run` after the present turn. While the node waits for its journal, ends it at once and without taking the journal;
    /// during a replay, before the next record. Workers continue with their effects, and wait for the reducer to come back.
    public func stop() {
        configuration.serviceManager?.tellStopping()
        isStopping.withLock { $0 = true }
        mailbox.post(.stop)
    }

    /// Ends `run` with `NodeKilled`, even in the middle of a turn: nothing more is written or sent to a peer. Effects of this
    /// process are cancelled, and what they still send is refused. When `run` has ended, the addresses and the journal are free.
    package func kill() {
        killSwitch.kill()
        isStopping.withLock { $0 = true }
        mailbox.post(.stop)
    }

    /// Checks that names are unique, that requests for workers can be encoded, and that timers and schedules run in
    /// the reducer alone.
    private static func check(_ definition: Definition) throws(NodeError) {
        if let mistake = definition.allFeedbacks.firstMistake() { throw .definition(mistake) }
        var places: [String: Int] = [:]
        for (index, feedback) in definition.allFeedbacks.enumerated() {
            if let other = places.updateValue(index, forKey: feedback.name) {
                throw .definition(
                    "feedbacks \(other + 1) and \(index + 1) of \(Definition.name) are both named \"\(feedback.name)\","
                        + " the name by which workers and the journal know them; rename one with .named(\"…\"),"
                        + " or name its part with pullback(part: \"…\", …)")
            }
            guard feedback.custom == nil else {
                throw .definition(
                    "the feedback \"\(feedback.name)\" follows transitions without requests, which only an in-process"
                        + " Loop can give it; let it be a RemoteLoop that observes and sends")
            }
            let isOwn = feedback.timer != nil || feedback.schedule != nil
            guard (feedback.placement == .reducer) == isOwn else {
                throw .definition(
                    isOwn
                        ? "the timers or runs of the feedback \"\(feedback.name)\" are placed on \(feedback.placement), and only the"
                            + " reducer fulfils these; leave out the .on(…)"
                        : "the feedback \"\(feedback.name)\" is placed in the reducer, which fulfils timers and schedules alone; place it"
                            + " .local or on workers")
            }
            let uncodable = feedback.makeQuery?().uncodable
            if feedback.makeQuery != nil && feedback.requestCoding == nil {
                throw .definition(
                    "the requests of the feedback \"\(feedback.name)\" cannot be handed to an effect node:"
                        + " their type is not Codable")
            }
            if let uncodable {
                throw .definition(
                    "what the feedback \"\(feedback.name)\" asks for cannot be kept in a journal: its keys are of type"
                        + " \(uncodable), which is not Codable")
            }
        }
        _ = try SystemZones.read(
            for: definition.allFeedbacks.compactMap { feedback in
                feedback.schedule.map { (feedback.name, $0.schedule) }
            })
    }
}

import CBOR
import Linux
import LoopCluster
import LoopCore
import LoopWire

/// Applies events to a loop's past that have not happened: the subcommand `what-if` of a reducer's program.
struct WhatIf: Sendable {
    /// What one event would do.
    struct Step: Sendable {
        let seq: Seq
        let event: [UInt8]
        let change: StateStep
        /// How many effects the state asks for, of each feedback that the event has concerned.
        let counts: [String: Int]
        /// The encoded state after it, or empty if states are not kept.
        let state: [UInt8]
        let outcome: Outcome?
    }

    /// The reason why an event cannot be applied, for people.
    struct Refusal: Error { let text: String }

    /// The name of the definition's type, with that of its module.
    let type: String
    let loop: String
    /// The transition before the events, its time, and the seed of random numbers.
    let seq: Seq
    let time: WallTime
    let seed: UInt64
    /// The encoded state before the events, or empty if states are not kept.
    let state: [UInt8]
    var steps: [Step] = []
}

extension WhatIf {
    /// Applies the events.
    /// - Parameters:
    ///   - events: encoded events, in order.
    ///   - seq: the transition before them, or nil for the newest.
    ///   - journal: the journal, which is only read.
    ///   - definition: the loop. A trap in its `reduce` ends this process.
    ///   - keepsStates: whether whole states are needed, which may be large.
    ///   - onStep: called after each event, so that those before a trap are shown.
    /// - Throws: `Refusal`; what reading the journal throws; what `onStep` throws.
    init<Definition: LoopDefinition>(
        _ events: [[UInt8]], after seq: Seq?, in journal: any Journal, _ definition: Definition,
        keepsStates: Bool, onStep: (Step) throws -> Void
    ) throws {
        var sandbox = try Sandbox(after: seq, in: journal, definition, coder: CBORCoder())
        let types = DefinitionTypes(definition, coder: CBORCoder())
        self.init(
            type: String(reflecting: Definition.self), loop: Definition.name, seq: sandbox.seq, time: sandbox.time,
            seed: sandbox.seed, state: keepsStates ? try sandbox.encodedState() : [])
        for (index, event) in events.enumerated() {
            func refusal(_ why: String) -> Refusal { Refusal(text: "event \(index + 1) is not applied: \(why)") }
            if let outcome = sandbox.outcome {
                throw refusal("the loop has ended at seq \(sandbox.seq): \(outcome.text)")
            }
            let explanation = types.explanation(of: event, from: nil)
            if let error = explanation.error { throw refusal("this is no event of the loop: \(error)") }
            if !explanation.unknownKeys.isEmpty {
                throw refusal("the loop does not read \(explanation.unknownKeys.prefix(5).joined(separator: ", "))")
            }
            let change = try sandbox.apply(event)
            let feedbacks = Set(change.effects.map(\.feedback))
            let step = Step(
                seq: sandbox.seq, event: event, change: change,
                counts: Dictionary(uniqueKeysWithValues: feedbacks.map { ($0, sandbox.effectsCount(of: $0)) }),
                state: keepsStates ? try sandbox.encodedState() : [], outcome: sandbox.outcome)
            steps.append(step)
            try onStep(step)
        }
    }
}

extension WhatIf {
    private static let events = Option(
        repeatedPositional: "EVENT", ValueType<String>.string, atLeast: 1,
        help: #"the events in their order, each as loopctl send takes it: '{"add":{"_0":3}}'"#)
    private static let at = Option(
        optional: "at", .int(in: 0...Int.max), help: "the seq after which they come; else the newest",
        environment: .none)
    private static let test = Option(
        flag: "test", help: "print a test with TestLoop, of the events and the states after them", environment: .none)
    private static let make = Option(
        optional: "make", .string.named("CODE"),
        help: "with --test: how the test makes the definition, such as 'Shop(prices: [:])'; else its type and ()",
        environment: .none)

    /// The command on journals of these engines.
    static func subcommand(_ engines: [JournalEngine]) -> NodeSubcommand {
        NodeSubcommand(
            command: Command(
                "what-if", abstract: "Show what events would change that have not happened.",
                discussion: """
                    The events are applied to the state after a transition, at that transition's time. Nothing is written, \
                    and no effect runs. A reducer may have the journal open.

                    Exit codes: 0 shown, 1 an event is refused, 2 the journal cannot be read, 64 wrong usage. A trap in reduce \
                    ends this program by a signal, after the events before it.
                    """,
                groups: [
                    OptionGroup("Range", [at]), OptionGroup("Output", [JournalCommands.json, test, make]),
                ], positionals: [JournalCommands.journal, events]),
            run: { try await run($0, $1, engines) })
    }

    private static func run(
        _ loop: RunnableLoop, _ arguments: ParsedArguments, _ engines: [JournalEngine]
    ) async throws -> Int32 {
        let (isTest, isJSON) = (arguments[test], arguments[JournalCommands.json])
        let place = try JournalPlace(usage: arguments[JournalCommands.journal], engines: engines, of: "the journal")
        var encoded: [[UInt8]] = []
        for (index, text) in arguments[events].enumerated() {
            do {
                encoded.append(try CBOR.fromJSON(text: text))
            } catch {
                throw UsageError(
                    message: "event \(index + 1) cannot be read: \(error)", hint: "it is one JSON document, in quotes")
            }
        }
        do {
            let seq = arguments[at].map { Seq(UInt64($0)) }
            let result = try await loop.tools.whatIf(place, seq, encoded, isTest) { step in
                if !isTest { try StandardOutput.line(isJSON ? step.json : step.text) }
            }
            if isTest { try StandardOutput.line(result.testFile(making: arguments[make])) }
            return 0
        } catch let refusal as Refusal {
            StandardError.line(refusal.text)
            return 1
        }
    }
}

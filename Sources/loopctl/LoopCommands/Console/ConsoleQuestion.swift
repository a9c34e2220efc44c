import CBOR
import Linux
import LoopCollections
import LoopCore
import LoopNode
import LoopWire
import ZMQ

/// What the console asks a reducer.
enum ConsoleQuestion: Hashable, Sendable {
    /// The status of all reducers.
    case members
    /// The effects that wait, or that are parked or run: the first ones.
    case effects(ListedEffect.State?)
    case quarantine
    /// The oldest seq that was not trimmed.
    case oldest
    /// The events of these seqs.
    case rows(ClosedRange<UInt64>)
    /// The newest records that a filter selects, before a position if there is one.
    case found(HistoryFilter, before: UInt64?)
    case transition(UInt64)
    /// One level of a state.
    case level(at: UInt64?, path: [String], from: Int)
    case changes(of: [String], before: UInt64?)
    case whatIf(WhatIfQuestion)
    /// Examples of events.
    case examples

    /// Whether the answer changes all the time, so that it is asked for again and again.
    var isLive: Bool {
        switch self {
        case .members, .effects, .quarantine: true
        case .oldest, .rows, .found, .transition, .level, .changes, .whatIf, .examples: false
        }
    }
}

/// A reducer's answer to the console.
enum ConsoleAnswer: Sendable {
    case members([StatusProbe.Member], silent: [SilentReducer] = [])
    case effects([ListedEffect], others: Int)
    case quarantine([QuarantinedEvent])
    case oldest(UInt64)
    case records([HistoryRecord], next: UInt64?)
    case transition(EventOrigin)
    case level(seq: UInt64, CBOROutline)
    case changes([PartChange], from: UInt64, because: String?)
    case whatIf(lines: [String])
    case examples([String])
    /// The reason why there is no answer, for people.
    case failed(String)
}

/// Asks a reducer the console's questions. Each question has a thread and a connection of its own, so that a replay keeps no other
/// answer waiting.
struct ConsoleAsker: Sendable {
    let reducer: ReducerAddress
    /// How long the reducer may be silent, and how long if it has to replay its journal.
    let limit: Duration
    let replayLimit: Duration
    let context: ZMQContext
    /// The loop's own program and its journal, to try events, or nil if they were not given.
    var program: LoopProgram?

    /// How many effects, rows of a filter and changes are asked for.
    static let effectsMax = 100
    static let changesMax = 50

    /// The answer, or the reason why there is none. Does not block the caller's thread.
    func answer(_ question: ConsoleQuestion) async -> ConsoleAnswer {
        do {
            if case .whatIf(let question) = question { return .whatIf(lines: try await whatIf(question)) }
            return try await NodeThread.run("loop-console") { try ask(question) }
        } catch {
            return .failed("\(error)")
        }
    }

    /// Requests an action. Returns its result, or the reason for its refusal, for people.
    func order(_ request: AdministrationRequest) async -> String {
        do { return try await NodeThread.run("loop-console") { try call(request, \.done, limit) } } catch {
            return "\(error)"
        }
    }

    private func ask(_ question: ConsoleQuestion) throws -> ConsoleAnswer {
        switch question {
        case .members:
            let members = try StatusProbe.members(of: reducer, within: limit, context: context)
            return .members(members, silent: SilentReducer.all(at: reducer, except: members))
        case .effects(let state):
            let selection = EffectSelection(state: state, max: Self.effectsMax)
            let answer = try call(.effects(selection), \.effects, limit)
            return .effects(answer.effects, others: answer.others)
        case .quarantine: return .quarantine(try call(.quarantine, \.quarantine, limit))
        case .oldest: return .oldest(try oldest())
        case .rows(let seqs): return .records(try events(of: seqs), next: nil)
        case .found(let filter, let before):
            let page = try call(.history(from: 0, through: nil, after: before, filter: filter), \.history, replayLimit)
            return .records(page.records, next: page.next)
        case .transition(let seq): return .transition(try call(.origin(of: seq, step: true), \.origin, replayLimit))
        case .level(let seq, let path, let from):
            let answer = try call(
                .state(
                    at: seq, part: StateSelection(path: path),
                    outline: OutlineSelection(from: from, max: ConsoleState.windowRows)), \.state, replayLimit)
            return .level(seq: answer.seq, try CBORCoder().decode(CBOROutline.self, from: answer.bytes))
        case .changes(let path, let before):
            let answer = try call(
                .changes(of: StateSelection(path: path), before: before, max: Self.changesMax), \.changes, replayLimit)
            return .changes(answer.changes, from: answer.from, because: answer.because)
        case .examples:
            return .examples(try call(.schema, \.schema, limit).eventExamples.map(JSONText.document))
        case .whatIf: return .whatIf(lines: [])
        }
    }

    /// Has the loop's program try events, in a process of its own, because the loop's `reduce` may trap or not return.
    private func whatIf(_ question: WhatIfQuestion) async throws -> [String] {
        if question.events.isEmpty { return [] }
        guard let program else {
            throw CommandError(
                "events are tried by the loop's own program: loopctl console --program PATH --journal JOURNAL, "
                    + "such as --program .build/debug/orders-reducer --journal orders.journal")
        }
        let loop = try await NodeThread.run("loop-console") {
            try StatusProbe.members(of: reducer, within: limit, context: context)[0].report.loop
        }
        return try await program.tries(question, of: loop)
    }

    /// Nothing was trimmed in most journals, and then the answer is small.
    private func oldest() throws -> UInt64 {
        if (try? call(.history(from: 1, through: 1, after: nil), \.history, limit)) != nil { return 1 }
        let page = try call(.history(from: 0, through: nil, after: nil), \.history, limit)
        return page.records.first { $0.kind == "event" }?.seq ?? 1
    }

    private func events(of seqs: ClosedRange<UInt64>) throws -> [HistoryRecord] {
        var events: [HistoryRecord] = []
        try HistoryCommand.pages(from: seqs.lowerBound, through: seqs.upperBound) { request in
            try call(request, \.history, limit)
        } print: { record in
            if record.kind == "event" { events.append(record) }
        }
        return events
    }

    private func call<Answer>(
        _ request: AdministrationRequest, _ read: (AdministrationAnswer) -> Answer?, _ limit: Duration
    ) throws -> Answer {
        var call = try AdministrationCall(reducer: reducer, context: context)
        return try call.ask(request, read, within: limit)
    }
}

/// A program with the loop's definition, and the journal of the loop.
struct LoopProgram: Sendable {
    let path: String
    let journal: String
    /// How long it may take for all events.
    var limit = Duration.seconds(60)

    /// How many lines of its output are kept, and how many of its errors.
    private static let (linesMax, errorsMax) = (2000, 5)

    /// What the program prints about events.
    /// - Throws: `CommandError` with its errors if it fails, is ended by a signal, or takes longer than the limit.
    func tries(_ question: WhatIfQuestion, of loop: String) async throws -> [String] {
        let lines = Locked<(output: [String], errors: [String])>(([], []))
        let options = ["--at", "\(question.after)"] + (question.isTest ? ["--test"] : [])
        let child = try ChildProcess(
            .init(
                path, [loop, "what-if"] + options + ["--", journal] + question.events,
                output: .lines { channel, line in
                    lines.withLock {
                        if channel == .output, $0.output.count < Self.linesMax { $0.output.append(line) }
                        if channel == .errors, $0.errors.count < Self.errorsMax { $0.errors.append(line) }
                    }
                }))
        let isLate = Locked(false)
        let watch = Task {
            try await Task.sleep(for: limit)
            isLate.withLock { $0 = true }
            child.kill()
        }
        defer { watch.cancel() }
        let exit = await withTaskCancellationHandler {
            await child.wait()
        } onCancel: {
            child.kill()
        }
        let (output, errors) = lines.withLock { $0 }
        if exit.isSuccess { return output }
        if isLate.withLock({ $0 }) { throw CommandError("\(path) was ended, because it took longer than \(limit)") }
        let place = if case .signaled = exit { " in event \(output.count { $0.hasPrefix("seq ") } + 1)" } else { "" }
        throw CommandError("\(path) ended with \(exit)\(place): \(errors.joined(separator: " "))")
    }
}

package import LoopCore
package import LoopKeys
package import LoopWire

/// An operator's request that only the journal can answer. The shell answers it.
package struct JournalRequest: Equatable, Sendable {
    /// The route of the answer.
    package var route: Route
    /// The number of the request, which the answer repeats.
    package var number: UInt64
    /// The question to the journal.
    package var question: JournalQuestion
}

/// A question of an operator that only the journal can answer.
package enum JournalQuestion: Equatable, Sendable {
    /// Trim the journal. Only the writing journal can do it.
    case trim(before: Seq)
    /// Read the journal. Any journal that reads the same file can do it.
    case read(JournalReading)
    /// Let a standby lead, with a snapshot before it or without. The operator has this name.
    case stepDown(takesSnapshot: Bool, who: String)
}

/// What can be read from a journal while another one writes.
package enum JournalReading: Equatable, Sendable {
    /// A page of the records of a range of seqs.
    /// - `after`: the position after which the page begins, or nil to begin at the seq `from`.
    /// - `filter`: what the page has, the newest first, or nil for all in their order.
    case history(from: Seq, through: Seq?, after: UInt64?, filter: HistoryFilter? = nil)
    /// The state after a transition, or a part of it, or an outline. Without a seq, the newest state.
    case state(at: Seq?, StateSelection, outline: OutlineSelection? = nil)
    /// Where an event came from.
    /// - `feedbacks`: the names of the loop's feedbacks, by number.
    /// - `keys`: the keys that are admitted, with their names.
    /// - `step`: whether to replay the transition, and say what it changed.
    case origin(of: Seq, feedbacks: [String], keys: AllowedKeys, step: Bool = false)
    /// The newest transitions that changed a part of the state, or the newest before a seq.
    case changes(of: StateSelection, before: Seq?, max: Int)
    /// A replay, compared with the journal's snapshots and state hashes.
    case verify
}

/// The requests of operators.
extension ReducerMachine {
    mutating func administer(
        _ document: ArraySlice<UInt8>, _ number: UInt64, _ route: Route, _ principal: Principal
    ) {
        guard let request = try? journaled.loop.coder.decode(AdministrationRequest.self, from: Array(document)) else {
            count(.malformedFrame)
            return answer(.refused("this reducer does not know the request; use the same release"), number, route)
        }
        if let violation = access.violation(of: request.verb, by: principal, context) {
            note(violation)
            return answer(.refused(violation.refused.description), number, route)
        }
        if let loss = phase.loss, request.changesTheLoop { return answer(.refused(loss.description), number, route) }
        switch request {
        case .trim(let before): ask(.trim(before: Seq(before)), number, route)
        case .history(let from, let through, let after, let filter):
            let range = (from: Seq(from), through: through.map(Seq.init))
            ask(.read(.history(from: range.from, through: range.through, after: after, filter: filter)), number, route)
        case .state(let seq, let part, let outline):
            ask(.read(.state(at: seq.map(Seq.init), part ?? StateSelection(), outline: outline)), number, route)
        case .origin(let seq, let step):
            let (feedbacks, keys) = (journaled.table.names, access.keys ?? .none)
            ask(.read(.origin(of: Seq(seq), feedbacks: feedbacks, keys: keys, step: step ?? false)), number, route)
        case .changes(let part, let before, let count):
            let count = min(max(count, 1), 1000)
            ask(.read(.changes(of: part, before: before.map(Seq.init), max: count)), number, route)
        case .verify: ask(.read(.verify), number, route)
        case .effects(let selection): answer(listedEffects(selection), number, route)
        case .retryParked(let effect, let who): answer(retryParked(effect, by: named(who)), number, route)
        case .quarantine: answer(quarantineList(), number, route)
        case .quarantined(let id): answer(quarantined(id), number, route)
        case .retryQuarantined(let id, let who):
            requestRetry(QuarantineRetry(id: id, who: named(who), number: number, route: route))
        case .dropQuarantined(let id, let who): answer(dropQuarantined(id, by: named(who)), number, route)
        case .schedules: answer(scheduleList(), number, route)
        case .pauseSchedule(let name, let who): answer(pauseSchedule(name, by: named(who)), number, route)
        case .resumeSchedule(let name, let who): answer(resumeSchedule(name, by: named(who)), number, route)
        case .runSchedule(let name, let who): answer(runScheduleNow(name, by: named(who)), number, route)
        case .explain(let event): answer(explained(event), number, route)
        case .schema: answer(schemaAnswer(), number, route)
        case .standBack:
            answer(.refused("this reducer leads, and only a standby can leave the journal to another"), number, route)
        case .stepDown(let takesSnapshot, let who): stepDown(takesSnapshot, named(who), number, route)
        }
    }

    private mutating func stepDown(_ takesSnapshot: Bool, _ who: String, _ number: UInt64, _ route: Route) {
        guard setting.mayStepDown else {
            return answer(
                .refused(
                    "this reducer was started without --standby, or keeps its journal in memory: it cannot follow another"
                        + " one; stop it, and start it with --standby"), number, route)
        }
        guard !phase.hasEnded else { return answer(.refused("the loop has ended"), number, route) }
        ask(.stepDown(takesSnapshot: takesSnapshot, who: who), number, route)
    }

    private mutating func ask(_ question: JournalQuestion, _ number: UInt64, _ route: Route) {
        turn.journalRequests.append(JournalRequest(route: route, number: number, question: question))
    }

    /// The name of a tool's user for the journal, cut to a bounded length.
    private func named(_ who: String) -> String { String(who.prefix(256)) }

    /// Queues a parked effect again, and forgets its failures.
    private mutating func retryParked(_ text: String, by who: String) -> AdministrationAnswer {
        guard let id = EffectID(text) else {
            return .refused("\"\(text.prefix(64))\" names no effect; names look like 0.57.0, see: loopctl effects")
        }
        guard let effect = journaled.effects[id] else {
            return .refused("the effect \(id) is not wanted by the state (any more); see: loopctl effects")
        }
        guard case .parked(let message) = effect.status else {
            return .refused("the effect \(id) is not parked; see: loopctl effects")
        }
        guard message != LiveEffect.unsendable else {
            return .refused("the effect \(id) cannot be run: \(message); the definition has to ask for less")
        }
        guard !phase.hasEnded else { return .refused("the loop has ended") }
        write(.operatorAction(OperatorAction(.retryParked(id), by: who, at: context.now.wall)))
        schedule(id)
        return .done("the effect \(id) of \(journaled.feedbackName(of: id)) waits to be run again")
    }

    /// Answers a request. The answer leaves with the turn's receipt.
    package mutating func answer(_ answer: AdministrationAnswer, _ number: UInt64, _ route: Route) {
        let document = (try? journaled.loop.coder.encode(answer)) ?? []
        for part in AnswerPart.parts(of: document, request: number) { turn.reply(.answer(part), to: route) }
    }
}

extension AdministrationRequest {
    /// The verb that is needed to make the request.
    var verb: Verb {
        switch self {
        case .retryParked: .retryEffects
        case .quarantine, .quarantined, .retryQuarantined, .dropQuarantined: .quarantine
        case .trim: .trim
        case .schedules, .pauseSchedule, .resumeSchedule, .runSchedule: .schedules
        case .history, .state, .origin, .changes, .verify, .effects: .readHistory
        case .explain: .explainEvents
        case .schema: .readSchema
        case .stepDown, .standBack: .stepDown
        }
    }

    /// Whether it asks for more than an answer.
    fileprivate var changesTheLoop: Bool {
        switch self {
        case .retryParked, .retryQuarantined, .dropQuarantined, .trim, .pauseSchedule, .resumeSchedule, .runSchedule,
            .stepDown, .standBack:
            true
        case .effects, .quarantine, .quarantined, .history, .state, .origin, .changes, .verify, .schedules, .explain,
            .schema:
            false
        }
    }
}

public import CBOR

/// A request of an operator's tool, with the type of its answer.
///
///     let effects: [ParkedEffect] = try call.ask(.parked, within: .seconds(2))
public struct AdministrationQuestion<Answer>: Sendable {
    /// The request as it is sent to the reducer.
    public let request: AdministrationRequest
    /// Extracts the answer, or returns nil if the reducer sent another kind, such as a refusal.
    public let read: @Sendable (AdministrationAnswer) -> Answer?

    private init(_ request: AdministrationRequest, _ read: @escaping @Sendable (AdministrationAnswer) -> Answer?) {
        self.request = request
        self.read = read
    }
}

/// Requests whose answer is a text for people about the result.
extension AdministrationQuestion<String> {
    private init(toDo request: AdministrationRequest) {
        self.init(request) { if case .done(let text) = $0 { text } else { nil } }
    }

    /// Asks to run a parked effect again, with its failures reset to 0.
    /// - Parameters:
    ///   - effect: the effect as ``ParkedEffect/effect`` names it.
    ///   - who: the operator, for the journal; 256 characters of it are kept.
    public static func retryParked(effect: String, who: String) -> Self {
        Self(toDo: .retryParked(effect: effect, who: who))
    }

    /// Asks to apply a quarantined event after all.
    /// - Parameters:
    ///   - id: the event's ``QuarantinedEvent/id``.
    ///   - who: the operator, for the journal; 256 characters of it are kept.
    public static func retryQuarantined(id: UInt64, who: String) -> Self {
        Self(toDo: .retryQuarantined(id: id, who: who))
    }

    /// Asks to give up a quarantined event; its bytes stay in the journal only.
    /// - Parameters:
    ///   - id: the event's ``QuarantinedEvent/id``.
    ///   - who: the operator, for the journal; 256 characters of it are kept.
    public static func dropQuarantined(id: UInt64, who: String) -> Self {
        Self(toDo: .dropQuarantined(id: id, who: who))
    }

    /// Asks to pause a schedule.
    /// - Parameters:
    ///   - name: the schedule's ``ListedSchedule/name``.
    ///   - who: the operator, for the journal; 256 characters of it are kept.
    public static func pauseSchedule(name: String, who: String) -> Self {
        Self(toDo: .pauseSchedule(name: name, who: who))
    }

    /// Asks to resume a paused schedule, with the first run that is still due.
    /// - Parameters:
    ///   - name: the schedule's ``ListedSchedule/name``.
    ///   - who: the operator, for the journal; 256 characters of it are kept.
    public static func resumeSchedule(name: String, who: String) -> Self {
        Self(toDo: .resumeSchedule(name: name, who: who))
    }

    /// Asks to run a schedule now, besides its own runs.
    /// - Parameters:
    ///   - name: the schedule's ``ListedSchedule/name``.
    ///   - who: the operator, for the journal; 256 characters of it are kept.
    public static func runSchedule(name: String, who: String) -> Self {
        Self(toDo: .runSchedule(name: name, who: who))
    }

    /// Asks the leader to step down. The answer comes when it has released the journal.
    /// - Parameters:
    ///   - takesSnapshot: whether it writes a snapshot first, for a successor that is not warm.
    ///   - who: the operator, for the log; 256 characters of it are kept.
    public static func stepDown(takesSnapshot: Bool, who: String) -> Self {
        Self(toDo: .stepDown(takesSnapshot: takesSnapshot, who: who))
    }

    /// Asks a standby to leave the journal to others for a while, so that another standby leads next.
    /// - Parameters:
    ///   - milliseconds: for how long, at most a minute; 0 ends it.
    ///   - who: the operator, for the log; 256 characters of it are kept.
    public static func standBack(milliseconds: UInt64, who: String) -> Self {
        Self(toDo: .standBack(milliseconds: milliseconds, who: who))
    }

    /// Asks to remove the records below a seq, as far as the second newest intact snapshot covers them.
    public static func trim(before seq: UInt64) -> Self { Self(toDo: .trim(before: seq)) }
}

extension AdministrationQuestion<[ListedSchedule]> {
    /// Asks for the schedules, with their next runs.
    public static var schedules: Self {
        Self(.schedules) { if case .schedules(let schedules) = $0 { schedules } else { nil } }
    }
}

extension AdministrationQuestion<[ParkedEffect]> {
    /// Asks for the effects that failed for good, at most 10,000.
    public static var parked: Self { Self(.parked) { if case .parked(let effects) = $0 { effects } else { nil } } }
}

extension AdministrationQuestion<[QuarantinedEvent]> {
    private init(of request: AdministrationRequest) {
        self.init(request) { if case .quarantine(let events) = $0 { events } else { nil } }
    }

    /// Asks for the events that were set aside, without their bytes: the newest 1000.
    public static var quarantine: Self { Self(of: .quarantine) }

    /// Asks for one event that was set aside, with its bytes. The answer is an array of one.
    public static func quarantined(id: UInt64) -> Self { Self(of: .quarantined(id: id)) }
}

extension AdministrationQuestion<HistoryPage> {
    /// Asks for a page of the journal's records.
    /// - Parameters:
    ///   - from: the seq of the first requested event.
    ///   - through: the seq of the last requested event, or nil for the newest.
    ///   - after: the position after which the page begins: ``HistoryPage/next`` of the previous page, or nil for the first page.
    public static func history(from: UInt64, through: UInt64?, after: UInt64?) -> Self {
        Self(.history(from: from, through: through, after: after)) {
            if case .history(let page) = $0 { page } else { nil }
        }
    }
}

extension AdministrationQuestion<(seq: UInt64, bytes: [UInt8])> {
    /// Asks for the encoded state after a transition, and its seq.
    /// - Parameters:
    ///   - seq: the seq of the transition: 0 for the initial state, nil for the newest.
    ///   - part: the requested part, or nil for the whole state.
    public static func state(at seq: UInt64?, part: StateSelection? = nil) -> Self {
        Self(.state(at: seq, part: part)) { if case .state(let seq, let bytes) = $0 { (seq, bytes) } else { nil } }
    }
}

extension AdministrationQuestion<DecodingExplanation> {
    /// Asks whether bytes are an event of the loop, with the reason if not, and the parts that are not read.
    public static func explain(event: [UInt8]) -> Self {
        Self(.explain(event: event)) { if case .explained(let explanation) = $0 { explanation } else { nil } }
    }
}

extension AdministrationQuestion<LoopSchema> {
    /// Asks for the types of the loop's events, requests and state.
    public static var schema: Self { Self(.schema) { if case .schema(let schema) = $0 { schema } else { nil } } }
}

extension AdministrationQuestion<VerifyReport> {
    /// Asks for a replay of the journal, compared with its snapshots and state hashes. It may take minutes.
    public static var verify: Self { Self(.verify) { if case .verified(let report) = $0 { report } else { nil } } }
}

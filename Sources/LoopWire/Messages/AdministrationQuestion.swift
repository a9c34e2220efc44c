/// A request of an operator's tool, together with the kind of answer that it has.
///
///     let effects: [ParkedEffect] = try call.ask(.parked, within: .seconds(2))
public struct AdministrationQuestion<Answer>: Sendable {
    public let request: AdministrationRequest
    /// The answer, where it is of the kind that the request has; else nil.
    public let read: @Sendable (AdministrationAnswer) -> Answer?

    private init(_ request: AdministrationRequest, _ read: @escaping @Sendable (AdministrationAnswer) -> Answer?) {
        self.request = request
        self.read = read
    }
}

/// What is to be done, answered by what came of it, for people.
extension AdministrationQuestion<String> {
    private init(toDo request: AdministrationRequest) {
        self.init(request) { if case .done(let text) = $0 { text } else { nil } }
    }

    public static func retryParked(effect: String, who: String) -> Self {
        Self(toDo: .retryParked(effect: effect, who: who))
    }

    public static func retryQuarantined(id: UInt64, who: String) -> Self {
        Self(toDo: .retryQuarantined(id: id, who: who))
    }

    public static func dropQuarantined(id: UInt64, who: String) -> Self {
        Self(toDo: .dropQuarantined(id: id, who: who))
    }

    public static func trim(before seq: UInt64) -> Self { Self(toDo: .trim(before: seq)) }
}

extension AdministrationQuestion<[ParkedEffect]> {
    public static var parked: Self { Self(.parked) { if case .parked(let effects) = $0 { effects } else { nil } } }
}

extension AdministrationQuestion<[QuarantinedEvent]> {
    private init(of request: AdministrationRequest) {
        self.init(request) { if case .quarantine(let events) = $0 { events } else { nil } }
    }

    public static var quarantine: Self { Self(of: .quarantine) }

    /// Answered by one event.
    public static func quarantined(id: UInt64) -> Self { Self(of: .quarantined(id: id)) }
}

extension AdministrationQuestion<HistoryPage> {
    /// - Parameter after: the position after which the page begins; nil: at the seq `from`.
    public static func history(from: UInt64, through: UInt64?, after: UInt64?) -> Self {
        Self(.history(from: from, through: through, after: after)) {
            if case .history(let page) = $0 { page } else { nil }
        }
    }
}

extension AdministrationQuestion<(seq: UInt64, bytes: [UInt8])> {
    /// Answered by the encoding of the state, and the seq that it is of.
    public static func state(at seq: UInt64?) -> Self {
        Self(.state(at: seq)) { if case .state(let seq, let bytes) = $0 { (seq, bytes) } else { nil } }
    }
}

extension AdministrationQuestion<VerifyReport> {
    public static var verify: Self { Self(.verify) { if case .verified(let report) = $0 { report } else { nil } } }
}

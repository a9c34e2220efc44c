/// An action that a peer asks of a reducer, if it needs a ``Role`` that allows it.
package enum Verb: CaseIterable, Hashable, Sendable {
    /// To ask for the reducer's status.
    case readStatus
    /// To be a peer with a session, for any purpose.
    case join
    /// To subscribe to updates of the state.
    case followUpdates
    /// To fetch a whole state.
    case fetchStates
    /// To follow the transitions, which name events.
    case followTransitions
    /// To send events that belong to no effect.
    case sendEvents
    /// To ask whether bytes are an event of the loop, and if not, why.
    case explainEvents
    /// To ask for the form of events, requests and the state.
    case readSchema
    /// To run effects, and send their events. The certificate names the groups.
    case runEffects
    /// To read the journal: history, earlier states, verification.
    case readHistory
    /// To make a parked effect run again.
    case retryEffects
    /// To list quarantined events, and to inspect, apply or drop one.
    case quarantine
    /// To list schedules, and to pause or resume one, or make one run now.
    case schedules
    /// To remove the journal's records before a seq.
    case trim
    /// To make the reducer let a standby lead.
    case stepDown

    /// The action for people, as text that follows "may not".
    package var text: String {
        switch self {
        case .readStatus: "ask for the status"
        case .join: "take part"
        case .followUpdates: "follow updates"
        case .fetchStates: "fetch states"
        case .followTransitions: "follow transitions"
        case .sendEvents: "send events"
        case .explainEvents: "ask about events"
        case .readSchema: "read the schema"
        case .runEffects: "run effects"
        case .readHistory: "read the history"
        case .retryEffects: "retry parked effects"
        case .quarantine: "see or change the quarantine"
        case .schedules: "see or steer schedules"
        case .trim: "trim the journal"
        case .stepDown: "have the reducer step down"
        }
    }
}

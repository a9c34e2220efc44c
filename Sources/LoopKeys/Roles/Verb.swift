/// What a peer asks of a reducer, as far as it takes a ``Role`` that allows it.
public enum Verb: CaseIterable, Hashable, Sendable {
    /// To ask how the reducer is.
    case readStatus
    /// To be a peer with a session, whatever it is for.
    case join
    /// To subscribe to updates of the state.
    case followUpdates
    /// To fetch a state whole.
    case fetchStates
    /// To follow the transitions, which name events.
    case followTransitions
    /// To send events that belong to no effect.
    case sendEvents
    /// To ask whether bytes are an event of the loop, and why not.
    case explainEvents
    /// To ask what events, requests and the state look like.
    case readSchema
    /// To run effects, and send their events. The certificate says of which groups.
    case runEffects
    /// To read the journal: history, earlier states, verification.
    case readHistory
    /// To list parked effects, or have one run again.
    case parked
    /// To list quarantined events, look into one, apply or drop it.
    case quarantine
    /// To list schedules, pause or resume one, or have one run now.
    case schedules
    /// To forget the journal's records before a seq.
    case trim
    /// To have a worker end what it runs, and start nothing.
    case drain
    /// To end the reducer.
    case shutDown
    /// To have the reducer let a standby lead.
    case stepDown

    /// For people, to follow "may not".
    public var text: String {
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
        case .parked: "see or retry parked effects"
        case .quarantine: "see or change the quarantine"
        case .schedules: "see or steer schedules"
        case .trim: "trim the journal"
        case .drain: "drain workers"
        case .shutDown: "end the reducer"
        case .stepDown: "have the reducer step down"
        }
    }
}

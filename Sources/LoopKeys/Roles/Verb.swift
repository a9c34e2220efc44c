/// What a peer asks of a reducer, as far as it takes a ``Role`` that allows it.
public enum Verb: CaseIterable, Hashable, Sendable {
    /// To subscribe to updates of the state.
    case followUpdates
    /// To fetch a state whole.
    case fetchStates
    /// To send events that belong to no effect.
    case sendEvents
    /// To run effects, and send their events. The certificate says of which groups.
    case runEffects
    /// To list parked effects, or have one run again.
    case parked
    /// To list quarantined events, look into one, apply or drop it.
    case quarantine
    /// To forget the journal's records before a seq.
    case trim
    /// To have a worker end what it runs, and start nothing.
    case drain
    /// To end the reducer.
    case shutDown
}

internal import LoopCore

/// One action of a loop, for a test to assert.
struct LoopAction<State: Sendable, Event: Sendable> {
    enum What {
        /// An event was reduced. The source is the effect that sent it. The event is nil for a direct change.
        case applied(Event?, by: EffectID?, before: State, after: State)
        /// A queued event was removed with its effect.
        case refused(Event, of: EffectID)
        /// An attempt of an effect began.
        case started(EffectID)
        /// A new effect waits for the limits of its feedback.
        case waiting(EffectID)
        /// A timer was set.
        case set(EffectID)
        case updated(EffectID, request: any Sendable)
        case cancelled(EffectID)
        case timedOut(EffectID)
        case parked(EffectID)
        case ended(Outcome)
    }

    var what: What
    /// Whether an exhaustive test must assert it. A test may also assert actions without a visible consequence.
    var isRequired: Bool
    /// The number of the action, counted from the start.
    var number: Int
    var time: Duration
    var seq: Seq

    /// The effect that the action is about.
    var effect: EffectID? {
        switch what {
        case .applied, .refused, .ended: nil
        case .started(let id), .waiting(let id), .set(let id), .updated(let id, _), .cancelled(let id),
            .timedOut(let id),
            .parked(let id):
            id
        }
    }

    /// The name of the assertion that takes it.
    var assertion: String {
        switch what {
        case .applied: "expectEvent"
        case .refused: "expectRefused"
        case .started: "expectStart"
        case .waiting: "expectWaiting"
        case .set: "expectTimer"
        case .updated: "expectUpdate"
        case .cancelled: "expectCancel"
        case .timedOut: "expectTimeout"
        case .parked: "expectParked"
        case .ended: "expectOutcome"
        }
    }
}

/// The facts about one effect, from its start on. They are kept after its end.
struct EffectFacts {
    let feedback: String
    /// The newest request.
    var request: any Sendable
    /// The newest attempt, or 0 if there was none yet.
    var attempt = 0
    /// How many attempts had failed when the newest began.
    var failures = 0
    /// The last event in its life, as text that follows "it ".
    var story = "waits for the limits of its feedback"

    /// `"fetch" for Page(number: 3)`.
    var text: String { "\"\(feedback)\" for \(ValueText.of(request))" }
}

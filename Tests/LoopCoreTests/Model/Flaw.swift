/// What is deliberately wrong with a loop, to show that the comparison with the model can fail.
enum Flaw: String, CaseIterable, Sendable {
    case keepsEventsOfCancelledEffects, removesEqualStates, showsLateSubscribersThePast, dropsASend
    case sendsFromInsideInReverse, doesNotStop, reducesMutations
    case cancelsAfterStarting, forgetsToCancel, ignoresTheInitialState, doesNotTellUpdates, startsTwice
    case restartsOnEqualValues, restartsOnEqualEvents, restartsWhileTheValueStays, restartsWhileItIsTrue
    case keepsAtUnmatchedEvents, runsMiddlewareForTheInitialState, seesForeignEvents, seesEventsWhenOnlyMapped
    case keepsEffectsOfAGonePart, hidesEventsFromCustomFeedbacks
    case triesOnceMore, forgetsTheTimeLimit, forgetsTheConcurrencyLimit, forgetsTheFailureEvent
    case takesFailureForCompletion, confirmsTooEarly

    /// The feedback that is built in the place of another one.
    func flawed(_ feedback: ModelFeedback) -> ModelFeedback {
        var flawed = feedback
        switch (self, feedback.form) {
        case (.restartsOnEqualValues, .skippingRepeated(let lens)): flawed.form = .lensing(lens)
        case (.restartsOnEqualEvents, .skippingRepeatedEvents(let cell)): flawed.form = .extracting(cell)
        case (.restartsOnEqualEvents, .skippingRepeatedEventsAndKeeping(let cell)):
            flawed.form = .extractingAndKeeping(cell)
        case (.restartsWhileTheValueStays, .firstValueAfterNil(let lens)): flawed.form = .skippingRepeated(lens)
        case (.restartsWhileItIsTrue, .whenBecomesTrue(let lens)): flawed.form = .whileTrue(lens)
        case (.keepsAtUnmatchedEvents, .extracting(let cell)): flawed.form = .extractingAndKeeping(cell)
        case (.keepsAtUnmatchedEvents, .skippingRepeatedEvents(let cell)):
            flawed.form = .skippingRepeatedEventsAndKeeping(cell)
        case (.triesOnceMore, _): flawed.attempts += 1
        case (.forgetsTheTimeLimit, _): flawed.isLimited = false
        case (.forgetsTheConcurrencyLimit, _): flawed.concurrency = nil
        case (.forgetsTheFailureEvent, _): flawed.failing = nil
        default: break
        }
        return flawed
    }
}

import LoopCompatibility
import LoopCore
import LoopView

// The lines that the pages of docs/coming-from put beside those of other libraries, as they compile.

typealias SearchFeedback = Feedback<Search, SearchEvent>

/// Feedbacks by the names that other libraries gave them.
func feedbacksByOldNames() -> [SearchFeedback] {
    [
        .lensing(state: \.query, effects: search),
        .skippingRepeated(state: \.query, effects: search),
        .firstValueAfterNil(\.query, effects: search),
        .whenBecomesTrue(\.isLoading, effects: load),
        .compacting(state: { $0.compactMap(\.query) }, effects: search),
        .extracting(payload: \.typed, effects: search),
        .skippingRepeated(events: \.typed, effects: search),
        .compacting(events: { $0.compactMap(\.typed) }, effects: search),
        .middleware(effect: { state, event in event == .submit ? load(state) : .none }),
        .react(request: \.query, effects: search),
        .react(requests: \.photos, effects: show),
        .react(requests: \.downloads, effects: download),
        .react("downloads", requests: \.downloads, effect: show),
        .custom { transitions, send in
            for await (state, event) in transitions where event == .submit {
                try? await send(.found([state.text]))
            }
        },
        .bind { states in
            Bindings(
                subscriptions: [{ for await state in states { screen.draw(state.text) } }],
                events: [states.filter(\.isLoading).map { _ in .tick }])
        },
        .skippingRepeated(state: \.query, effects: search).autoconnect(followingChangesIn: \.isOnline),
        .everyState("log", effects: { _ in .none }),
        .whileTrue("load", state: \.isLoading, effects: load),
        .react("search", request: \.query, effect: search),
        .react("far search", request: \.query, effect: search).on(.workers),
        .extractingAndKeeping("typed", payload: \.typed, effects: search),
        Loop<Search, SearchEvent>.Feedback(skippingRepeated: \.query, effects: search),
        FeedbackLoop<Search, SearchEvent>.Feedback(lensing: \.query, effects: search),
    ]
}

/// Those that follow something outside of the loop.
func feedbacksOfSources(_ ticks: AsyncStream<Void>) -> [SearchFeedback] {
    let (input, observer) = SearchFeedback.input
    observer(.tick)
    let keys = Input<SearchEvent>()
    keys.send(.tick)
    return [
        .source(ticks, as: { _ in .tick }),
        .source("clock") { send in try await send(.tick) },
        input,
        .input("keys", keys),
        Feedback(events: { $0.filter(\.isLoading).map { _ in .tick } }),
    ]
}

/// The first generation's.
func feedbacksByFirstNames(_ ticks: AsyncStream<Void>) -> [SearchFeedback] {
    [
        Feedback(skippingRepeated: \.query, effects: search),
        Feedback(lensing: \.query, effects: search),
        Feedback(predicate: \.isLoading, effects: load),
        Feedback(effects: load),
        Feedback(compacting: { $0.compactMap(\.query) }, effects: search),
        Feedback(query: \.query, effects: search),
        Feedback(compactingState: { $0.compactMap(\.query) }, effects: search),
        Feedback(compactingEvents: { $0.compactMap(\.typed) }, effects: search),
        Feedback(skippingRepeatedState: \.query, effects: search),
        Feedback(skippingRepeatedEvents: \.typed, effects: search),
        Feedback(extractingPayload: \.typed, effects: search),
        Feedback(firstValueAfterNil: \.query, effects: search),
        Feedback(whenBecomesTrue: \.isLoading, effects: load),
        Feedback(source: ticks, as: { _ in .tick }),
        .lensing(event: \.typed, effects: search),
        .react(query: \.query, effects: search),
        .react(query: \.photos, effects: show),
    ]
}

/// Loops that are shared, and loops that are made for each subscriber.
func loops(_ feedbacks: [SearchFeedback]) async {
    let loop = Loop(initial: Search(), reducer: reduce, feedbacks: feedbacks)
    let (one, other) = (SearchFeedback(effects: load), SearchFeedback(lensing: \.query, effects: search))
    let others = [
        Loop(initial: Search(), reduce: next, feedbacks: feedbacks),
        Loop(initial: Search(), reduce: reduce, feedbacks: feedbacks),
        Loop(initial: Search(), reducer: reduce, feedbacks: one, other),
        Loop(initial: Search(), reduce: next, feedbacks: one, other),
        FeedbackLoop(initial: Search(), reducer: reduce, feedbacks: feedbacks),
        FeedbackLoop(initial: Search(), reduce: reduce, feedbacks: feedbacks),
    ]
    loop.send(.type("swift"))
    screen.draw(loop.state.text + others.map(\.state.text).joined())
    loop.mutate(keyPath: \.text, value: "swift")
    for await state in loop.states { if state.text == "swift" { break } }
    for await state in loop.states.latest { if state.text == "swift" { break } }
    for await state in loop.states.removingDuplicates() { if state.text == "swift" { break } }
    for await context in loop.contexts { if context.text == "swift" { break } }
    for states in [
        system(initial: Search(), reduce: next, feedbacks: feedbacks),
        system(initial: Search(), reduce: next, feedbacks: one, other),
        system(initial: Search(), reducer: reduce, feedbacks: []),
        system(initial: Search(), reducer: Reducer(reduce), feedbacks: feedbacks),
        system(initialState: Search(), reduce: next, feedback: feedbacks),
        system(initialState: Search(), reduce: next, feedback: one, other),
        feedbackLoop(initial: Search(), reduce: reduce, feedbacks: feedbacks),
        feedbackLoop(initial: Search(), reduce: reduce, feedbacks: one, other),
        feedbackLoop(initial: Search(), reduce: next, feedbacks: feedbacks),
        feedbackLoop(initial: Search(), reducer: Reducer(reduce), feedbacks: feedbacks),
    ] {
        for await state in states { if state.text == "" { break } }
    }
    loop.stop()
}

/// Scopes of a loop.
func scopes(_ loop: Loop<Search, SearchEvent>) -> [String] {
    let detail = loop.scoped(to: \.detail, event: SearchEvent.detail)
    let typing = loop.scoped(event: SearchEvent.type)
    let quiet = loop.ignoringInput()
    let viewed = loop.view(value: \.detail, event: SearchEvent.detail)
    let open = loop.scoped(toOptional: \.detail, event: SearchEvent.detail)
    typing.send("loop")
    return [
        typing.state.text, detail.state?.title ?? "-", quiet.state.text, open?.state.title ?? "-",
        viewed.state?.title ?? "-",
    ]
}

/// Reducers and feedbacks of a part, and several as one.
func composed() -> (Reducer<Search, SearchEvent>, [SearchFeedback]) {
    let liking = Reducer<Detail, DetailEvent> { detail, event in detail.isLiked = event == .liked }
    let reducer = Reducer.combine(
        Reducer(reduce),
        liking.optional().pullback(value: \.detail, event: CasePath(SearchEvent.detail)),
        liking.optional().pullback(value: \.detail, event: { (event: SearchEvent) in event.detail }))
    let asking = ["a", "b", "c"].map { name in
        Feedback<Detail, DetailEvent>.extracting(
            name, payload: { $0 == .like ? true : nil }, effect: { _ in .event(.liked) })
    }
    let sending = Feedback<Search, DetailEvent>.source("likes") { send in try await send(.like) }
    return (
        Reducer.combine(reducer, Reducer { state, event in print("\(event) → \(state)") }),
        [
            .combine(
                asking[0].pullback(optionalValue: \.detail, embedEvent: SearchEvent.detail, extractEvent: \.detail),
                .everyState("states", effects: { _ in .none })),
            asking[1].optional().pullback(value: \.detail, event: CasePath(SearchEvent.detail)),
            asking[2].pullback(
                value: { $0.detail ?? Detail() }, embedEvent: SearchEvent.detail, extractEvent: \.detail),
            sending.pullback(value: { $0 }, embedEvent: SearchEvent.detail, extractEvent: { _ in nil }),
        ]
    )
}

/// Debounced and throttled effects.
func timed(_ clock: any Clock<Duration> & Sendable) -> [SearchFeedback] {
    [
        .skippingRepeated(
            state: \.text,
            effects: { text in
                .task {
                    try await clock.sleep(for: .milliseconds(300))
                    return .found([text])
                }
            }),
        .extractingAndKeeping(
            "typed", payload: \.typed,
            effects: { text in
                .task {
                    try await clock.sleep(for: .milliseconds(300))
                    return .found([text])
                }
            }),
        .react("search", request: \.query, effect: search).rated(RateLimit(perSecond: 2)),
    ]
}

/// Which tests keep the rows of docs/coming-from that say "Nothing" of what is different: by page, and by the first code of the
/// row.
let testsOfComingFrom: [String: [String: [String]]] = [
    "loop": [
        "Loop(initial: Search(), reducer: reduce, feedbacks: feedbacks)": [
            "11 a loop starts once, when it is made, and is shared by all who watch",
            "14 the initial state can start an effect whose events are reduced before the loop is handed out",
        ],
        "Loop(initial: Search(), reduce: reduce, feedbacks: feedbacks)": [
            "a reducer that changes the state may have the label reduce"
        ],
        "Loop<Search, SearchEvent>.Feedback(…)": ["feedbacks are found under the loop's name"],
        #"loop.send(.type("swift"))"#: [
            "7 an uncontended send is synchronous",
            "5 a send from inside a reducer is queued and reduced after the current event",
        ],
        "loop.scoped(event: SearchEvent.type)": ["34 a scope of events alone has the whole state"],
        #"loop.view(value: \.detail, event: SearchEvent.detail)"#: ["view is scoped by its older name"],
        "loop.ignoringInput()": ["35 a scope whose event is Never follows the loop and cannot send"],
        "SignalProducer.feedbackLoop(initial: Search(), reduce: reduce, feedbacks: one, other)": [
            "feedbacks of a cold loop may follow one another too"
        ],
        #".lensing(state: \.query, effects: search)"#: [
            "20 lensing restarts at every state with a value", "18 nil cancels and runs nothing",
            "feedbacks without a name mean what those with one mean",
        ],
        #".skippingRepeated(state: \.query, effects: search)"#: [
            "19 an equal value does nothing, and x nil x runs again",
            "19 an equal value does nothing after the effect has completed",
            "feedbacks without a name mean what those with one mean",
        ],
        #".firstValueAfterNil(\.query, effects: search)"#: [
            "21 firstValueAfterNil starts on the rising edge and ignores what follows",
            "feedbacks without a name mean what those with one mean",
        ],
        #".whenBecomesTrue(\.isLoading, effects: load)"#: [
            "21 whenBecomesTrue starts on the rising edge and is cancelled on the falling one",
            "14 an initial state starts the effects of state-driven forms and of no others",
            "feedbacks without a name mean what those with one mean",
        ],
        #".extracting(payload: \.typed, effects: search)"#: [
            "22 an unmatched event cancels and forgets", "feedbacks without a name mean what those with one mean",
        ],
        #".skippingRepeated(events: \.typed, effects: search)"#: [
            "22 an unmatched event cancels and forgets", "feedbacks without a name mean what those with one mean",
        ],
        ".middleware { state, event in … }": [
            "23 middleware runs once for each event and never for the initial state",
            "13 a middleware gets the state after its event",
        ],
        #"feedback.autoconnect(followingChangesIn: \.isOnline)"#: [
            "14 15 a feedback that is attached again sees the latest state and no event"
        ],
        ".combine(one, other)": ["33 combined feedbacks are side by side and end together"],
        #"asking.pullback(value: \.detail, embedEvent: …, extractEvent: …)"#: [
            "32 foreign events are invisible and cancel nothing", "32 events of a part's effects reach the whole loop",
        ],
        #"Feedback(skippingRepeatedState: \.query, effects: search)"#: [
            "feedbacks without a name mean what those with one mean"
        ],
        #"Feedback(skippingRepeatedEvents: \.typed, effects: search)"#: [
            "feedbacks without a name mean what those with one mean"
        ],
        #"Feedback(extractingPayload: \.typed, effects: search)"#: [
            "feedbacks without a name mean what those with one mean"
        ],
        #"Feedback(firstValueAfterNil: \.query, effects: search)"#: [
            "feedbacks without a name mean what those with one mean"
        ],
        #"Feedback(whenBecomesTrue: \.isLoading, effects: load)"#: [
            "feedbacks without a name mean what those with one mean"
        ],
        #"Feedback(predicate: \.isLoading, effects: load)"#: [
            "a predicate by its first name starts at every state, and whenBecomesTrue at the edge"
        ],
        "Feedback(effects: load)": ["feedbacks without a name mean what those with one mean"],
        "context.text": ["37 a context is an immutable snapshot whose members are the state's"],
        "context.send(event: .type(title))": ["37 a loop gives a context for the current state and for each later one"],
    ],
    "reactivefeedback": [
        "loop.stop()": [
            "9 a stop cancels effects, ends streams, and makes later sends do nothing",
            "10 a stop from inside a delivery takes effect before the next event",
        ],
        #"store.send(event: .type("store"))"#: ["a send shows in the state when it returns"],
        #"store.view(value: \.detail, event: SearchEvent.detail)"#: ["view is a store's scoped by its older name"],
        "FeedbackLoop<Search, SearchEvent>.Feedback(…)": ["feedbacks are found under the loop's name"],
        #"Feedback(skippingRepeated: \.query, effects: search)"#: [
            "feedbacks without a name mean what those with one mean",
            "19 an equal value does nothing, and x nil x runs again",
        ],
        #"Feedback(lensing: \.query, effects: search)"#: [
            "feedbacks without a name mean what those with one mean", "20 lensing restarts at every state with a value",
        ],
        #"Feedback(predicate: \.isLoading, effects: load)"#: [
            "a predicate by its first name starts at every state, and whenBecomesTrue at the edge"
        ],
        "Feedback(effects: load)": ["feedbacks without a name mean what those with one mean"],
        ".combine(one, other)": ["33 combined feedbacks are side by side and end together"],
        "context.text": ["37 a context is an immutable snapshot whose members are the state's"],
        "context.send(event: .type(title))": ["37 a loop gives a context for the current state and for each later one"],
        #"context.view(value: \.detail, event: SearchEvent.detail)"#: [
            "a context of a part sends the whole's events and changes the part's fields"
        ],
    ],
    "rxfeedback": [
        "react(query: { $0.query }, effects: search)": ["feedbacks without a name mean what those with one mean"],
        "react(query: { $0.photos }, effects: show)": [
            "feedbacks without a name mean what those with one mean", "24 a set has one effect for each element",
        ],
    ],
    "combinefeedback": [
        #"store.send(event: .type("store"))"#: ["a send shows in the state when it returns"],
        #"store.mutate(keyPath: \.results, value: ["one"])"#: [
            "39 mutate goes through the queue and publishes a state",
            "39 mutate passes the reducer by and shows feedbacks no event",
        ],
        #"store.scoped(to: \.detail, event: SearchEvent.detail)"#: [
            "a scope is a projection both ways, and tells of the whole's changes"
        ],
        #"Feedback(predicate: \.isLoading, effects: load)"#: [
            "a predicate by its first name starts at every state, and whenBecomesTrue at the edge"
        ],
        #"Feedback(skippingRepeated: \.query, effects: search)"#: [
            "feedbacks without a name mean what those with one mean"
        ],
        #"Feedback(lensing: \.query, effects: search)"#: ["feedbacks without a name mean what those with one mean"],
        "Feedback(effects: load)": ["feedbacks without a name mean what those with one mean"],
        "Reducer { state, event in … }": ["2 only reduced events change the state, one at a time"],
        "Reducer.combine(one, other)": ["30 combined reducers all run, in order, on the same state"],
        "Feedback.combine(one, other)": ["33 combined feedbacks are side by side and end together"],
        "context.send(event: .type(title))": ["37 a loop gives a context for the current state and for each later one"],
        "context.action(for: .submit)": ["38 an action is a closure that sends"],
    ],
]

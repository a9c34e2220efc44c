import LoopCore

// The loop that the pages of docs/coming-from speak of.

struct Search: Equatable, Sendable {
    var text = ""
    /// What is to be searched, or nil for nothing.
    var query: String?
    var isLoading = false
    var isOnline = true
    var results: [String] = []
    var photos: Set<Int> = []
    /// Where each download is to begin.
    var downloads: [String: Int] = [:]
    var detail: Detail?
}

enum SearchEvent: Equatable, Sendable {
    case type(String)
    case submit
    case found([String])
    case tick
    case detail(DetailEvent)

    var typed: String? { if case .type(let text) = self { text } else { nil } }
    var detail: DetailEvent? { if case .detail(let event) = self { event } else { nil } }
}

struct Detail: Equatable, Sendable {
    var title = ""
    var isLiked = false
}

enum DetailEvent: Equatable, Sendable {
    case like
    case liked
}

/// Changes the state.
@Sendable func reduce(_ state: inout Search, _ event: SearchEvent) {
    switch event {
    case .type(let text): state.text = text
    case .submit: (state.query, state.isLoading) = (state.text, true)
    case .found(let results): (state.results, state.query, state.isLoading) = (results, nil, false)
    case .tick: state.photos.insert(state.photos.count)
    case .detail: break
    }
}

/// Returns the new state.
@Sendable func next(_ state: Search, _ event: SearchEvent) -> Search {
    var state = state
    reduce(&state, event)
    return state
}

/// The answer to a query.
@Sendable func search(_ query: String) -> Effect<SearchEvent> { .task { .found([query]) } }

/// The answer to a state that is loading.
@Sendable func load(_ state: Search) -> Effect<SearchEvent> {
    state.isLoading ? .event(.found([state.text])) : .none
}

/// An effect for a number.
@Sendable func show(_ number: Int) -> Effect<SearchEvent> { .none }

/// An effect for a download that hears when it is to begin elsewhere.
@Sendable func download(_ start: Int, _ updates: RequestUpdates<Int>) -> Effect<SearchEvent> {
    .run { send in
        for await _ in updates { try await send(.tick) }
    }
}

/// What a binding keeps up to date.
struct Screen: Sendable {
    let drawn = Log<String>()
    func draw(_ text: String) { drawn.add(text) }
}

let screen = Screen()

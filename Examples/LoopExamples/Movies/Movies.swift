package import LoopCore

/// An endless list of films: page after page from a server, with failures that are shown and can be retried.
///
/// The state is the newest batch's number, the films so far, and the status. There is a next page to fetch only while the
/// status is `loading`, which is all of the paging.
package struct Movies: LoopDefinition {
    package static let name = "movies"
    package static let abstract = "Page through films of a server, with failures and another try."

    /// The root URL of the server, with its closing slash.
    package let server: String

    package init(server: String = "") { self.server = server }

    package var initial: State { State(server: server) }

    package func reduce(into state: inout State, _ event: Event, _ transition: Transition) {
        Self.reducer(&state, event, transition)
    }

    package var feedbacks: [Feedback<State, Event>] { [Self.feedback] }

    /// The reducer, which loops with this one as a part use too.
    package static let reducer = Reducer<State, Event> { state, event in
        switch (event, state.status) {
        case (.loaded(let answer), .loading):
            state.batch = answer.batch
            state.movies += answer.movies
            state.status = .idle
        case (.failed(let reason), .loading): state.status = .failed(reason)
        case (.more, .idle) where state.hasMore: state.status = .loading
        case (.retry, .failed): state.status = .loading
        default: break
        }
    }

    /// Fetches the next page on a worker, if there is one to fetch. A failure is an event, and the user may retry.
    package static let feedback = Feedback<State, Event>
        .react("page", request: \.nextPage) { (page: PageRequest) in
            .task { .loaded(try await JSONResource.get(page.url, as: Answer.self)) }
        }
        .on(.workers)
        .failing { (_: PageRequest, error) in .failed("\(error)") }
}

package import LoopExamples
package import LoopView

/// A search field and the results.
package struct SearchPage: View {
    let store: Store<MovieSearch.State, MovieSearch.Event>

    package init(store: Store<MovieSearch.State, MovieSearch.Event>) { self.store = store }

    package var body: [Element] {
        Widget(viewModel: store) { context in
            Heading("Search")
            TextField(
                "Search", text: context.binding(for: \.text, event: { .typed($0) }), prompt: "title, director or year")
            List(context.movies) { movie in
                Row {
                    Text(movie.title)
                    Text(String(movie.year)).tone(.secondary)
                }
            }
            switch context.status {
            case .loading: ProgressBar("Looking for “\(context.query)”")
            case .postponed(let reason): ProgressBar("Trying again soon: \(reason)").tone(.warning)
            case .failed(let reason):
                Text("Given up: \(reason)").tone(.bad)
                Button("Try again", action: context.action(for: .retry))
            case .idle:
                if context.state.hasMore {
                    Button("More", action: context.action(for: .more)).pressedWhenSeen()
                        .id("after \(context.batch.number) of \(context.query)")
                } else if context.isBlank, context.text.isEmpty {
                    Text("Try “hitchcock”, or “1950”.").tone(.secondary)
                } else if context.movies.isEmpty, !context.isBlank {
                    Text("Nothing is called “\(context.query)”.").tone(.warning)
                } else if !context.isBlank {
                    Text("These are all \(context.movies.count).").tone(.good)
                }
            }
        }
    }
}

package import LoopExamples
package import LoopView

/// The films so far, followed by the status.
package struct MoviesPage: View {
    let store: Store<Movies.State, Movies.Event>

    package init(store: Store<Movies.State, Movies.Event>) { self.store = store }

    package var body: [Element] {
        Widget(viewModel: store) { context in
            Heading("Movies")
            List(context.movies) { movie in
                Row {
                    Text(movie.title)
                    Text(String(movie.year)).tone(.secondary)
                }
            }
            MoviesEnd(context: context)
        }
    }
}

/// The end of a list of films: more, nothing more, or a failure with a retry.
struct MoviesEnd: View {
    let context: Context<Movies.State, Movies.Event>

    var body: [Element] {
        switch context.status {
        case .loading: ProgressBar("Page \(context.batch.number + 1) is coming")
        case .failed(let reason):
            Text("Page \(context.batch.number + 1) could not be fetched: \(reason)").tone(.bad)
            Button("Try again", action: context.action(for: .retry))
        case .idle:
            if context.state.hasMore {
                Button("More", action: context.action(for: .more)).pressedWhenSeen()
                    .id("after \(context.batch.number)")
            } else {
                Text("These are all \(context.movies.count).").tone(.good)
            }
        }
    }
}

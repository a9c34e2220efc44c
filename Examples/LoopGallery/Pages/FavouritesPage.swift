package import LoopExamples
package import LoopView

/// The open film, the favourites, and the list to choose from.
package struct FavouritesPage: View {
    let store: Store<Favourites.State, Favourites.Event>

    package init(store: Store<Favourites.State, Favourites.Event>) { self.store = store }

    package var body: [Element] {
        Heading("Favourites")
        IfLetWidget(viewModel: store.scoped(to: \.card, event: Favourites.Event.card)) { context in
            MovieCardView(context: context)
        }
        Widget(viewModel: store) { context in
            if context.card != nil {
                Button("Close", action: context.action(for: .close))
                Divider()
            }
            if context.favourites.isEmpty {
                Text("None yet: open a film, and press its star.").tone(.secondary)
            }
            List(context.favourites) { movie in
                Row {
                    Text("★").tone(.accent)
                    Text(movie.title).strong()
                    Text(String(movie.year)).tone(.secondary)
                }
            }
            Heading("Movies", level: 2)
            List(context.list.movies) { movie in
                Row {
                    Button(movie.title, action: context.action(for: .open(movie)))
                    Text(String(movie.year)).tone(.secondary)
                    if context.state.isFavourite(movie) { Text("★").tone(.accent) }
                }
            }
            MoviesEnd(context: context.view(value: \.list, event: Favourites.Event.list))
        }
    }
}

/// The facts of one film, and the star.
struct MovieCardView: View {
    let context: Context<MovieCard.State, MovieCard.Event>

    var body: [Element] {
        Heading(context.movie.title, level: 2)
        switch context.details {
        case .loading: ProgressBar("Looking it up")
        case .known(let facts): Text("\(facts.director), \(facts.country), \(context.movie.year)")
        case .failed(let reason):
            Text("It could not be looked up: \(reason)").tone(.bad)
            Button("Look again", action: context.action(for: .retry))
        }
        Toggle("Favourite", isOn: context.binding(for: \.isFavourite, event: .toggleFavourite))
    }
}

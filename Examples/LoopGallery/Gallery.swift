internal import LoopExamples

/// The examples, each with its page.
package enum Gallery {
    /// All examples, in the order of the help.
    package static let all: [GalleryExample] = [
        GalleryExample(
            Movies.self, abstract: Movies.abstract, server: .movies, definition: { Movies(server: $0) },
            page: { MoviesPage(store: $0) }),
        GalleryExample(
            Favourites.self, abstract: Favourites.abstract, server: .movies, definition: { Favourites(server: $0) },
            page: { FavouritesPage(store: $0) }),
        GalleryExample(
            Counter.self, abstract: Counter.abstract, definition: { _ in Counter() },
            page: { CounterPage(store: $0) }),
        GalleryExample(
            SignIn.self, abstract: SignIn.abstract, definition: { _ in SignIn() }, page: { SignInPage(store: $0) }),
        GalleryExample(
            Switch.self, abstract: Switch.abstract, definition: { _ in Switch() }, page: { SwitchPage(store: $0) }),
        GalleryExample(Todo.self, abstract: Todo.abstract, definition: { _ in Todo() }, page: { TodoPage(store: $0) }),
        GalleryExample(
            TokenRefresh.self, abstract: TokenRefresh.abstract, definition: { _ in TokenRefresh() },
            page: { TokenRefreshPage(store: $0) }),
    ]
}

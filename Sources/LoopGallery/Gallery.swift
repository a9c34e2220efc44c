internal import LoopExamples

/// The examples, each with its page.
public enum Gallery {
    /// All of them, in the order of the help.
    public static let all: [GalleryExample] = [
        GalleryExample(
            Movies.self, abstract: Movies.abstract, server: .movies, definition: { Movies(server: $0) },
            page: { MoviesPage(store: $0) }),
        GalleryExample(
            Favourites.self, abstract: Favourites.abstract, server: .movies, definition: { Favourites(server: $0) },
            page: { FavouritesPage(store: $0) }),
        GalleryExample(
            MovieSearch.self, abstract: MovieSearch.abstract, server: .movies,
            definition: { MovieSearch(server: $0) }, page: { SearchPage(store: $0) }),
    ]
}

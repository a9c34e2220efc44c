import LoopCore
import LoopExamples
import LoopGallery
import LoopView
import Testing

@Suite struct `The page of favourites` {
    private let server = "http://movies.test/"

    private func page(_ number: Int, of count: Int) -> Movies.Answer {
        let movie = Movies.Movie(id: number, title: "Film \(number)", year: 1900 + number)
        return Movies.Answer(batch: Movies.Batch(number: number, count: count), movies: [movie])
    }

    private func press(_ label: String, _ page: some View) throws {
        let tree = ViewTree(page)
        #expect(tree.perform(.press(try #require(tree.button(label) ?? tree.toggle(label)))))
    }

    @Test func `a film is opened, starred and closed`() throws {
        let definition = Favourites(server: server)
        let store = Store(Loop(initial: definition.initial, reducer: Reducer(definition)))
        let shown = FavouritesPage(store: store)
        store.send(event: .list(.loaded(page(1, of: 1))))
        try press("Film 1", shown)
        #expect(shown.plainText().contains("## Film 1\nLooking it up …\n[ ] Favourite\n[ Close ]"))
        store.send(event: .card(.failed("the server answered 500")))
        #expect(shown.plainText().contains("It could not be looked up: the server answered 500\n[ Look again ]"))
        try press("Look again", shown)
        store.send(event: .card(.loaded(.init(director: "Carol Reed", country: "United Kingdom"))))
        try press("Favourite", shown)
        #expect(shown.plainText().contains("Carol Reed, United Kingdom, 1901\n[x] Favourite"))
        try press("Close", shown)
        #expect(
            shown.plainText() == """
                # Favourites
                - ★  Film 1  1901

                ## Movies
                - [ Film 1 ]  1901  ★
                These are all 1.
                """)
    }
}

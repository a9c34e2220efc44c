import LoopCore
import LoopExamples
import LoopGallery
import LoopView
import Testing

@Suite struct `The page of movies` {
    private let store = Store(
        Loop(initial: Movies.State(server: "http://movies.test/"), reducer: Movies.reducer))

    private func answer(_ number: Int, of count: Int) -> Movies.Event {
        let movie = Movies.Movie(id: number, title: "Film \(number)", year: 1900 + number)
        return .loaded(Movies.Answer(batch: Movies.Batch(number: number, count: count), movies: [movie]))
    }

    @Test func `says which page is coming, and has a button for the next one, until there is none`() throws {
        let page = MoviesPage(store: store)
        #expect(page.plainText() == "# Movies\nPage 1 is coming …")
        store.send(event: answer(1, of: 2))
        #expect(page.plainText() == "# Movies\n- Film 1  1901\n[ More ]")
        let tree = ViewTree(page)
        #expect(tree.perform(.press(try #require(tree.button("More")))))
        #expect(page.plainText() == "# Movies\n- Film 1  1901\nPage 2 is coming …")
        store.send(event: answer(2, of: 2))
        #expect(page.plainText() == "# Movies\n- Film 1  1901\n- Film 2  1902\nThese are all 2.")
    }

    @Test func `shows a failure, and a button for another try`() throws {
        let page = MoviesPage(store: store)
        store.send(event: .failed("the server answered 500"))
        #expect(
            page.plainText() == "# Movies\nPage 1 could not be fetched: the server answered 500\n[ Try again ]")
        let tree = ViewTree(page)
        #expect(tree.perform(.press(try #require(tree.button("Try again")))))
        #expect(page.plainText() == "# Movies\nPage 1 is coming …")
    }
}

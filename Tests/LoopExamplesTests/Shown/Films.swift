import LoopExamples

/// Films for the tests of the examples that show some.
enum Films {
    static let server = "http://films.test/"

    static func film(_ id: Int) -> Movies.Movie { Movies.Movie(id: id, title: "Film \(id)", year: 1900 + id) }

    /// A page with one film, of its number.
    static func page(_ number: Int, of count: Int) -> Movies.Answer {
        Movies.Answer(batch: Movies.Batch(number: number, count: count), movies: [film(number)])
    }
}

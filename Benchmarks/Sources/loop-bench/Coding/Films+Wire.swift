import CBOR

/// ``Films`` once more, with the coding of its hot type written by hand.
struct WireFilms: Codable, Equatable, Sendable {
    struct Film: WireCodable, Equatable, Sendable {
        var id: Int
        var title: String
        var year: Int
        var rating: Double
        var isSeen: Bool
        var director: String

        func encode(to writer: inout WireWriter) {
            writer.map { film in
                film.write("id", id)
                film.write("year", year)
                film.write("title", title)
                film.write("isSeen", isSeen)
                film.write("rating", rating)
                film.write("director", director)
            }
        }

        init(from reader: inout WireReader) throws {
            let film = try reader.map()
            id = try film.read("id")
            year = try film.read("year")
            title = try film.read("title")
            isSeen = try film.read("isSeen")
            rating = try film.read("rating")
            director = try film.read("director")
        }
    }

    var films: [Film]
}

extension WireFilms.Film {
    init(_ film: Films.Film) {
        id = film.id
        title = film.title
        year = film.year
        rating = film.rating
        isSeen = film.isSeen
        director = film.director
    }
}

extension WireFilms {
    init(_ films: Films) { self.init(films: films.films.map(Film.init)) }
}

/// ``Signal`` once more, with its coding written by hand.
enum WireSignal: WireCodable, Equatable, Sendable {
    case increment
    case response(Int, [String])

    init(_ signal: Signal) {
        switch signal {
        case .increment: self = .increment
        case .response(let page, let titles): self = .response(page, titles)
        }
    }

    func encode(to writer: inout WireWriter) throws {
        switch self {
        case .increment: writer.choice("increment")
        case .response(let page, let titles):
            try writer.choice("response") { values in
                values.write("_0", page)
                try values.write("_1", titles)
            }
        }
    }

    init(from reader: inout WireReader) throws {
        let choice = try reader.choice()
        switch choice.name {
        case "increment": self = .increment
        case "response": self = .response(try choice.values.read("_0"), try choice.values.read("_1"))
        default: throw choice.unknown(Self.self)
        }
    }
}

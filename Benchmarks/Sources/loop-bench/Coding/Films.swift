/// A state of a thousand structs with six fields, for the coder.
struct Films: Codable, Equatable, Sendable {
    struct Film: Codable, Equatable, Sendable {
        var id: Int
        var title: String
        var year: Int
        var rating: Double
        var isSeen: Bool
        var director: String
    }

    var films: [Film]

    init(count: Int) {
        films = (0..<count).map { number in
            Film(
                id: number, title: "The film number \(number)", year: 1920 + number % 100,
                rating: Double(number % 101) / 10, isSeen: number % 3 == 0, director: "Director \(number % 57)")
        }
    }
}

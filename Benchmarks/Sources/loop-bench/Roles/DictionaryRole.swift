import LoopCore

/// What is done with every entry of a dictionary, in random order.
enum DictionaryWork: String, CaseIterable {
    case insert, lookup, update, iterate, remove
}

/// Fills a dictionary and measures what is done with it.
enum DictionaryRole {
    typealias Tracked = TrackedDictionary<String, Film>

    /// A value with a text of its own, as states have them.
    struct Film: Equatable, Sendable {
        var title: String
        var votes: Int
    }

    static func run(_ role: Role) throws {
        let count = try role.number("count")
        let keys = (0..<count).map { "https://example.org/films/\($0)" }
        var random = SeededRandom(seed: 1)
        let order = keys.shuffled(using: &random)
        switch try role.text("kind") {
        case "plain": try plain(keys, order) { Role.say($0.rawValue, Double(count) / $1) }
        case "tracked": try tracked(keys, order) { Role.say($0.rawValue, Double(count) / $1) }
        case "query": Role.say("rate", try events(keys, order))
        case "copied": Role.say("rate", try changesAfterCopies(keys, order))
        case let kind: throw BenchmarkError.usage("there is no kind of dictionary \(kind)")
        }
    }

    private static func film(_ number: Int) -> Film { Film(title: "A film with the number \(number)", votes: number) }

    private static func seconds(_ work: () -> Int) throws -> Double {
        let began = ProcessorTime.seconds
        let done = work()
        let seconds = ProcessorTime.seconds - began
        guard done > 0 else { throw BenchmarkError.promise("nothing was done to a dictionary") }
        return seconds
    }

    // The code is written twice, since generic code would measure how well it is specialised.

    private static func plain(
        _ keys: [String], _ order: [String], _ tell: (DictionaryWork, _ seconds: Double) -> Void
    ) throws {
        var films: [String: Film] = [:]
        tell(
            .insert,
            try seconds {
                for (number, key) in keys.enumerated() { films[key] = film(number) }
                return films.count
            })
        tell(.lookup, try seconds { order.reduce(0) { $0 &+ (films[$1]?.votes ?? 0) } })
        tell(
            .update,
            try seconds {
                for key in order { films[key]?.votes += 1 }
                return films.count
            })
        tell(.iterate, try seconds { films.reduce(0) { $0 &+ $1.value.votes } })
        tell(
            .remove,
            try seconds {
                for key in order { films[key] = nil }
                return films.isEmpty ? 1 : 0
            })
    }

    private static func tracked(
        _ keys: [String], _ order: [String], _ tell: (DictionaryWork, _ seconds: Double) -> Void
    ) throws {
        var films = Tracked()
        tell(
            .insert,
            try seconds {
                for (number, key) in keys.enumerated() { films[key] = film(number) }
                return films.count
            })
        tell(.lookup, try seconds { order.reduce(0) { $0 &+ (films[$1]?.votes ?? 0) } })
        tell(
            .update,
            try seconds {
                for key in order { films[key]?.votes += 1 }
                return films.count
            })
        tell(.iterate, try seconds { films.reduce(0) { $0 &+ $1.value.votes } })
        tell(
            .remove,
            try seconds {
                for key in order { films[key] = nil }
                return films.isEmpty ? 1 : 0
            })
    }

    /// Events of a loop with a request for each entry: one request changes, goes, or comes back. In a second.
    private static func events(_ keys: [String], _ order: [String]) throws -> Double {
        var films = Tracked(keys.enumerated().map { ($1, film($0)) })
        var evaluator = Evaluator<Tracked, Int>(
            feedbacks: [.react("films", requests: \.self) { (_: Film) -> Effect<Int> in .none }])
        var changes: [EffectChange] = []
        evaluator.advance(state: films, event: nil, seq: .initial, into: &changes)
        guard changes.count == keys.count else { throw BenchmarkError.promise("an effect was not started") }
        let count = 60_000
        var told = 0
        let seconds = try seconds {
            for number in 0..<count {
                let key = order[number / 3 % order.count]
                switch number % 3 {
                case 0: films[key]?.votes += 1
                case 1: films[key] = nil
                default: films[key] = film(number)
                }
                changes.removeAll(keepingCapacity: true)
                evaluator.advance(state: films, event: 0, seq: Seq(UInt64(number + 1)), into: &changes)
                told += changes.count
            }
            return told
        }
        guard told == count else { throw BenchmarkError.promise("\(count) events changed \(told) effects") }
        return Double(count) / seconds
    }

    /// Changes a dictionary of which a copy is held at each change, and says how long the longest change took.
    /// - Returns: the number of changes in a second.
    private static func changesAfterCopies(_ keys: [String], _ order: [String]) throws -> Double {
        var films = Tracked(keys.enumerated().map { ($1, film($0)) })
        var longest = 0.0
        var total = 0.0
        let count = 20_000
        for number in 0..<count {
            let copy = films
            let began = ProcessorTime.seconds
            films[order[number % order.count]]?.votes += 1
            let seconds = ProcessorTime.seconds - began
            total += seconds
            longest = max(longest, seconds)
            guard copy.count == films.count else { throw BenchmarkError.promise("a copy has changed") }
        }
        Role.say("longest", longest)
        return Double(count) / total
    }
}

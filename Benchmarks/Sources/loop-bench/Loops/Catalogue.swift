import CBOR
import LoopCore
import LoopWire

/// A large state: so many films in a tracked dictionary, a hundred bytes each. An event votes for one of them; every eighth
/// asks for a check too, one of a keyed feedback that nobody works on, and gives up the oldest.
struct Catalogue: LoopDefinition {
    struct Film: Equatable, Sendable {
        var title: String
        var votes: Int
    }

    struct State: Codable, Sendable {
        var films: TrackedDictionary<Int, Film> = [:]
        var checks: TrackedDictionary<Int, Int> = [:]
        var votes = CountingState()
        var isOver = false
    }

    enum Event: Sendable {
        /// Adds films behind those that are there.
        case add(Int)
        case vote(number: UInt64, film: Int)
        case finish
    }

    static let name = "bench-catalogue"
    static let checksCount = 64

    let initial = State()
    /// Called for each vote.
    var onVote: @Sendable () -> Void = {}

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .add(let count):
            for number in state.films.count..<state.films.count + count { state.films[number] = .numbered(number) }
        case .vote(let number, let film):
            onVote()
            state.votes.apply(number)
            state.films[film]?.votes += 1
            guard number % 8 == 0 else { return }
            state.checks[film] = Int(truncatingIfNeeded: number)
            if state.checks.count > Self.checksCount, let oldest = state.checks.first {
                state.checks[oldest.key] = nil
            }
        case .finish: state.isOver = true
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        [.react("checks", requests: \.checks) { (_: Int) -> Effect<Event> in .none }.on(.workers)]
    }

    func outcome(of state: State) -> Outcome? {
        guard state.isOver else { return nil }
        return Outcome(text: "\(state.films.count) \(state.votes.applied) \(state.votes.disorder)")
    }
}

extension Catalogue.Film {
    /// A hundred bytes with its key, more or less.
    static func numbered(_ number: Int) -> Self {
        Self(
            title: "The film with the number \(number), of which nothing is known but that its title is rather long",
            votes: 0)
    }
}

extension Catalogue.Film: WireCodable {
    func encode(to writer: inout WireWriter) {
        writer.map { film in
            film.write("title", title)
            film.write("votes", votes)
        }
    }

    init(from reader: inout WireReader) throws {
        let film = try reader.map()
        title = try film.read("title")
        votes = try film.read("votes")
    }
}

/// By hand: what is to be measured is the state, not the coding of an event.
extension Catalogue.Event: WireCodable {
    func encode(to writer: inout WireWriter) {
        writer.writeBytes(17) { bytes in
            switch self {
            case .add(let count): bytes.put(1, UInt64(count), 0)
            case .vote(let number, let film): bytes.put(2, number, UInt64(film))
            case .finish: bytes.put(3, 0, 0)
            }
        }
    }

    init(from reader: inout WireReader) throws {
        self = try reader.readBytes { bytes in
            guard bytes.byteCount == 17 else { throw BenchmarkError.promise("an event of \(bytes.byteCount) bytes") }
            let first = bytes.unsafeLoadUnaligned(fromByteOffset: 1, as: UInt64.self)
            let second = bytes.unsafeLoadUnaligned(fromByteOffset: 9, as: UInt64.self)
            return switch bytes.unsafeLoad(as: UInt8.self) {
            case 1: .add(Int(first))
            case 2: .vote(number: first, film: Int(second))
            default: .finish
            }
        }
    }
}

extension OutputSpan<UInt8> {
    fileprivate mutating func put(_ kind: UInt8, _ first: UInt64, _ second: UInt64) {
        append(kind)
        for number in [first, second] {
            for shift in stride(from: 0, to: 64, by: 8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
    }
}

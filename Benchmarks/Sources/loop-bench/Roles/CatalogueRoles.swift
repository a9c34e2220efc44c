import CBOR
import Glibc
import LoopCore
import LoopNode
import LoopWire

/// The roles around a catalogue: one that votes, one that joins late, and its reducer.
enum CatalogueRoles {
    /// The number of events that fill a catalogue. The first 16 make it small: the state is hashed then, and again after some
    /// thousand events, which the votes are.
    private static let fillingsCount = 1000

    /// Fills a catalogue, and ends.
    static func fill(_ role: Role) async throws {
        // A sender alone follows no state.
        let loop = try RemoteConnection(
            loop: Catalogue.name, reducer: role.reducer(), name: "filler", log: .silent)
        let films = try role.number("films")
        func add(_ count: Int, confirmed: Bool) async throws {
            _ = try await loop.send(try CBOR.encode(Catalogue.Event.add(count)), confirmed: confirmed)
        }
        let few = max(1, films / 20_000)
        for _ in 0..<16 { try await add(few, confirmed: true) }
        let rest = films - 16 * few
        for step in 0..<fillingsCount {
            let count = rest * (step + 1) / fillingsCount - rest * step / fillingsCount
            try await add(count, confirmed: step == fillingsCount - 1)
        }
        await loop.close()
        Role.say("filled", films)
    }

    /// Votes as fast as it can beside an observer of differences; then tells how many votes a second of processor time of the
    /// reducer's process is enough for, and checks what the observer has seen.
    static func vote(_ role: Role) async throws {
        let (films, count) = (try role.number("films"), try role.number("count"))
        let loop = try await observed(role, films: films)
        var random = SeededRandom(seed: 7)
        let warmUp = count / 10
        let reducer = try ProcessorTime.Clock(of: Int32(role.number("process")))
        var began = 0.0
        for number in 1...UInt64(count + warmUp) {
            if number == UInt64(warmUp) + 1 {
                // The state is hashed now, once: the next time is millions of votes later.
                try await reducer.rest()
                began = reducer.seconds
            }
            let event = Catalogue.Event.vote(number: number, film: Int.random(in: 0..<films, using: &random))
            if number == UInt64(warmUp) || number == UInt64(count + warmUp) {
                try await loop.sendAndConfirm(event)
            } else {
                try await loop.send(event)
            }
        }
        let processor = reducer.seconds - began
        try await finish(loop, films: films, votes: count + warmUp)
        Role.say("processor", Double(count) / processor)
    }

    /// Votes for `milliseconds` with one vote outstanding, ends the loop, and tells how many votes there were.
    static func voteAlone(_ role: Role) async throws {
        let films = try role.number("films")
        // The voter does not follow the state: what following costs is no pause of the reducer.
        let loop = try RemoteConnection(
            loop: Catalogue.name, reducer: role.reducer(), name: "voter", log: .silent)
        func send(_ event: Catalogue.Event) async throws {
            _ = try await loop.send(try CBOR.encode(event), confirmed: true)
        }
        var random = SeededRandom(seed: 7)
        let ends = MonotonicTime.seconds + Double(try role.number("milliseconds")) / 1000
        var votes = 0
        while MonotonicTime.seconds < ends {
            votes += 1
            try await send(.vote(number: UInt64(votes), film: Int.random(in: 0..<films, using: &random)))
        }
        try await send(.finish)
        await loop.close()
        Role.say("votes", votes)
    }

    /// Follows the differences between states from a full catalogue to its end, checks what it has seen, and tells how many
    /// votes there were.
    static func observe(_ role: Role) async throws {
        let films = try role.number("films")
        let loop = try await observed(role, films: films)
        Role.say("following", films)
        for await (_, state) in loop.states where state.isOver {
            try state.check(films: films, votes: Int(state.votes.applied))
            Role.say("seen", state.votes.applied)
            break
        }
        try checkDivergences(loop)
        await loop.close()
    }

    /// A loop whose first state has come.
    private static func observed(_ role: Role, films: Int) async throws -> RemoteLoop<Catalogue> {
        let loop = try RemoteLoop(Catalogue.self, reducer: role.reducer(), updates: .delta, log: .silent)
        for await (_, state) in loop.states where state.films.count == films { break }
        return loop
    }

    private static func finish(_ loop: RemoteLoop<Catalogue>, films: Int, votes: Int) async throws {
        for await (_, state) in loop.states where state.votes.applied >= UInt64(votes) {
            try state.check(films: films, votes: votes)
            break
        }
        try checkDivergences(loop)
        try await loop.sendAndConfirm(.finish)
        await loop.close()
    }

    private static func checkDivergences(_ loop: RemoteLoop<Catalogue>) throws {
        guard loop.divergenceCount == 0 else {
            throw BenchmarkError.promise("the observer doubted \(loop.divergenceCount) times what it had")
        }
    }

    /// Joins a catalogue that is there, and tells how many bytes of state came in a second, until the state could be used.
    static func join(_ role: Role) async throws {
        let films = try role.number("films")
        let began = MonotonicTime.seconds
        let loop = try RemoteLoop(
            Catalogue.self, reducer: role.reducer(), updates: .delta(atMost: 1), log: .silent)
        for await (_, state) in loop.states {
            let seconds = MonotonicTime.seconds - began
            try state.check(films: films, votes: 0)
            Role.say("rate", Double(try CBOR.encode(state).count) / seconds)
            break
        }
        await loop.close()
    }
}

extension Catalogue.State {
    /// - Throws: `BenchmarkError.promise` unless every event was applied once and in its order, and to every film's count.
    fileprivate func check(films count: Int, votes: Int) throws {
        try self.votes.check(UInt64(votes))
        let sum = films.reduce(0) { $0 + $1.value.votes }
        guard films.count == count, sum == votes, checks.count <= Catalogue.checksCount else {
            throw BenchmarkError.promise("\(films.count) films have \(sum) votes in place of \(count) with \(votes)")
        }
    }
}

/// The longest pauses between two votes at the reducer: by the clock, and of work by its own thread.
final class Pauses: @unchecked Sendable {
    // Of the reducer's thread alone, and read when that has ended.
    private var last: (wall: Double, thread: Double)?
    private(set) var longest = (wall: 0.0, thread: 0.0)

    func note() {
        let now = (wall: MonotonicTime.seconds, thread: ProcessorTime.ofThisThread)
        if let last {
            longest.wall = max(longest.wall, now.wall - last.wall)
            longest.thread = max(longest.thread, now.thread - last.thread)
        }
        last = now
    }
}

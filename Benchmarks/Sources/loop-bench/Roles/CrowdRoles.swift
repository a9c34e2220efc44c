import CBOR
import LoopCore
import LoopNode
import LoopWire

/// Workers, observers and the client of a crowd; many of them share a process.
enum CrowdRoles {
    /// Runs `count` workers with a `capacity` each.
    static func work(_ role: Role) async throws {
        let (reducer, capacity) = (try role.reducer(), try role.number("capacity"))
        DescriptorLimit.raise()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<(try role.number("count")) {
                let node = try EffectNode(
                    Crowd(), configuration: EffectNodeConfiguration(reducer: reducer, capacity: capacity, log: .silent)
                )
                group.addTask { _ = try await node.run() }
            }
            try await group.waitForAll()
        }
    }

    /// Runs `count` observers of the counts, and says when each has its first.
    static func observe(_ role: Role) async throws {
        let reducer = try role.reducer()
        DescriptorLimit.raise()
        let observers = try (0..<(try role.number("count"))).map { _ in
            try RemoteSection(
                of: Crowd.self, "counts", as: Crowd.Counts.self, reducer: reducer, updates: .delta(atMost: 2),
                log: .silent)
        }
        for observer in observers { for await _ in observer.states { break } }
        Role.say("following", observers.count)
        // Also behind a reducer that was killed each comes to the same.
        for observer in observers {
            for await (_, counts) in observer.states where counts.votes.applied == votesCount {
                try counts.votes.check(votesCount)
                break
            }
            guard observer.divergenceCount == 0 else { throw BenchmarkError.promise("an observer doubted what it had") }
        }
        Role.say("seen", votesCount)
        // Until it is ended.
        for await _ in observers[0].states {}
    }

    private static let votesCount: UInt64 = 1000

    /// Fills the state, has the effects run, or votes and ends it.
    static func ask(_ role: Role) async throws {
        let reducer = try role.reducer()
        let connection = try RemoteConnection(
            loop: Crowd.name, reducer: reducer, name: "client", log: .silent)
        func send(_ event: Crowd.Event, confirmed: Bool = true) async throws {
            _ = try await connection.send(try CBOR.encode(event), confirmed: confirmed)
        }
        let began = MonotonicTime.seconds
        switch try role.text("step") {
        case "fill":
            let (films, steps) = (try role.number("films"), 1000)
            for step in 0..<steps {
                try await send(.add(films * (step + 1) / steps - films * step / steps), confirmed: step == steps - 1)
            }
        case "run":
            let jobs = try role.number("jobs")
            let counts = try section(reducer)
            try await send(.begin(jobs))
            for await (_, now) in counts.states where now.started >= jobs { break }
            await counts.close()
        case "finish": try await send(.finish)
        default:
            // The first is answered when the reducer is there again.
            for number in 1...votesCount {
                try await send(.vote(number))
                if number == 1 { Role.say("again", MonotonicTime.seconds) }
            }
        }
        Role.say("seconds", MonotonicTime.seconds - began)
        await connection.close()
    }

    private static func section(_ reducer: ReducerAddress) throws -> RemoteSection<Crowd.Counts> {
        try RemoteSection(
            of: Crowd.self, "counts", as: Crowd.Counts.self, reducer: reducer, updates: .delta, log: .silent)
    }
}

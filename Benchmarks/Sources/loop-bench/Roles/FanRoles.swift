import LoopCore
import LoopNode

/// A worker of the fan, and the client that starts it.
enum FanRoles {
    static func work(_ role: Role) async throws {
        let node = try EffectNode(
            Fan(),
            configuration: EffectNodeConfiguration(
                reducer: try role.text("reducer"), capacity: try role.number("capacity"), log: { _ in }))
        _ = try await node.run()
    }

    /// Waits for the workers, begins, and waits for the end of the loop.
    static func ask(_ role: Role) async throws {
        let reducer = try role.text("reducer")
        let workers = try role.number("workers")
        while try StatusProbe.ask(reducer).peers.count(where: { $0.capacity > 0 }) < workers {
            try await Task.sleep(for: .milliseconds(10))
        }
        let loop = try RemoteLoop(Fan.self, reducer: reducer, log: { _ in })
        let began = ContinuousClock.now
        try await loop.send(.begin(limit: try role.number("count"), window: try role.number("window")))
        for await _ in loop.states {}
        Role.say("seconds", (ContinuousClock.now - began).inSeconds)
        await loop.close()
    }
}

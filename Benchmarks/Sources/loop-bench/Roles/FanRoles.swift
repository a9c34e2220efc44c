import LoopCore
import LoopNode

/// A worker of the fan, and the client that starts it.
enum FanRoles<Definition: FanDefinition> {
    static func work(_ role: Role) async throws {
        let node = try EffectNode(
            Definition(),
            configuration: EffectNodeConfiguration(
                reducer: try role.reducer(), capacity: try role.number("capacity"), log: .silent))
        _ = try await node.run()
    }

    /// Waits for the workers, and begins.
    static func ask(_ role: Role) async throws {
        let reducer = try role.reducer()
        let workers = try role.number("workers")
        while try StatusProbe.ask(reducer).peers.count(where: { $0.capacity > 0 }) < workers {
            try await Task.sleep(for: .milliseconds(10))
        }
        let loop = try RemoteLoop(Definition.self, reducer: reducer, log: .silent)
        Role.say("began", MonotonicTime.seconds)
        try await loop.sendAndConfirm(
            Definition.Event(.begin(limit: try role.number("count"), window: try role.number("window"))))
        await loop.close()
    }
}

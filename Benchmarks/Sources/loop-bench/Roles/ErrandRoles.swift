import LoopNode
import Synchronization

/// The worker of errands: it notes which of them it runs.
enum ErrandRoles {
    /// Works until the loop has ended, and says how many effects it has run that it had run before.
    static func work(_ role: Role) async throws {
        let runs = Runs()
        let node = try EffectNode(
            Errands(onStart: { number in runs.note(number) }),
            configuration: EffectNodeConfiguration(reducer: try role.reducer(), log: .silent))
        _ = try await node.run()
        Role.say("again", runs.againCount)
    }

    private final class Runs: Sendable {
        private let counts = Mutex((numbers: Set<Int>(), again: 0))

        func note(_ number: Int) {
            counts.withLock { if !$0.numbers.insert(number).inserted { $0.again += 1 } }
        }

        var againCount: Int { counts.withLock { $0.again } }
    }
}

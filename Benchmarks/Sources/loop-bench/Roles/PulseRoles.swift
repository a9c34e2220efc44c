import LoopCore
import LoopNode
import Synchronization

/// The worker of the pulse: it notes when its effects start.
enum PulseRoles {
    static func work(_ role: Role) async throws {
        let count = try role.number("count")
        let reducer = try role.reducer()
        let starts = Starts(capacity: count)
        var configuration = EffectNodeConfiguration(reducer: reducer, log: .silent)
        configuration.runsEffectsOnItsThread = role.isOnItsThread
        let node = try EffectNode(Pulse(onStart: { starts.note() }), configuration: configuration)
        async let end = node.run()
        let remote = try RemoteLoop(Pulse.self, reducer: reducer, log: .silent)
        try await remote.sendAndConfirm(.begin(count))
        await remote.close()
        _ = try await end
        let times = starts.all
        guard times.count == count else {
            throw BenchmarkError.promise("\(count) effects were wanted one after the other, \(times.count) ran")
        }
        let waits = zip(times, times.dropFirst()).map { ($1 - $0).inSeconds * 1e6 }
        // The first ones warm up.
        Role.say("p50", Array(waits.dropFirst(count / 10)).median)
    }

    private final class Starts: Sendable {
        private let times: Mutex<[ContinuousClock.Instant]>

        init(capacity: Int) {
            var times: [ContinuousClock.Instant] = []
            times.reserveCapacity(capacity)
            self.times = Mutex(times)
        }

        func note() {
            let now = ContinuousClock.now
            times.withLock { $0.append(now) }
        }

        var all: [ContinuousClock.Instant] { times.withLock { $0 } }
    }
}

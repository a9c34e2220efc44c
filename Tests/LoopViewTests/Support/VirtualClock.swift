import LoopCore
import LoopLock

/// A clock that stands still until a test advances it.
final class VirtualClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
    }

    private struct Sleeper: Sendable {
        var token: UInt64
        var deadline: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct Content: Sendable {
        var now = Instant(offset: .zero)
        var sleepers: [Sleeper] = []
        var cancelled: Set<UInt64> = []
        var nextToken: UInt64 = 0
        var watchers: [(deadline: Instant, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let content = Locked(Content())

    var now: Instant { content.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let token = content.withLock { content in
            content.nextToken += 1
            return content.nextToken
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enter(Sleeper(token: token, deadline: deadline, continuation: continuation))
            }
        } onCancel: {
            let sleeper = content.withLock { content -> Sleeper? in
                if let index = content.sleepers.firstIndex(where: { $0.token == token }) {
                    return content.sleepers.remove(at: index)
                }
                content.cancelled.insert(token)
                return nil
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private func enter(_ sleeper: Sleeper) {
        enum Verdict {
            case awake, cancelled
            case asleep([CheckedContinuation<Void, Never>])
        }
        let verdict = content.withLock { content -> Verdict in
            if content.cancelled.remove(sleeper.token) != nil { return .cancelled }
            if sleeper.deadline <= content.now { return .awake }
            content.sleepers.append(sleeper)
            let seen = content.watchers.filter { $0.deadline == sleeper.deadline }.map(\.continuation)
            content.watchers.removeAll { $0.deadline == sleeper.deadline }
            return .asleep(seen)
        }
        switch verdict {
        case .awake: sleeper.continuation.resume()
        case .cancelled: sleeper.continuation.resume(throwing: CancellationError())
        case .asleep(let watchers): for watcher in watchers { watcher.resume() }
        }
    }

    /// Returns once somebody sleeps until this time.
    func sleeper(until offset: Duration) async {
        await withCheckedContinuation { continuation in
            let isThere = content.withLock { content in
                if content.sleepers.contains(where: { $0.deadline.offset == offset }) { return true }
                content.watchers.append((Instant(offset: offset), continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    /// Waits until somebody sleeps until exactly this time, and makes it this time.
    func advance(toSleeperAt offset: Duration) async {
        await sleeper(until: offset)
        advance(to: offset)
    }

    func advance(to offset: Duration) {
        let due = content.withLock { content -> [Sleeper] in
            content.now = max(content.now, Instant(offset: offset))
            let now = content.now
            let due = content.sleepers.filter { $0.deadline <= now }.sorted { $0.deadline < $1.deadline }
            content.sleepers.removeAll { $0.deadline <= now }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
    }
}

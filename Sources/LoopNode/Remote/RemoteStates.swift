package import LoopCluster
package import LoopCore
import LoopLock

/// What is known of the state of a loop that runs elsewhere, or of a section of it: made once, for all who look.
package final class RemoteStates<Value: Codable & Sendable>: Sendable {
    /// What those are told who look.
    package enum News: Sendable {
        case state(Seq, Value)
        case standing(ObserverStanding)
        case ended(exitCode: Int32, text: String)
    }

    private struct Followed {
        var follower: StateFollower<Value>
        /// A whole state that was not looked at yet.
        var unread: ObserverAction?
        /// When the newest state came.
        var cameAt = MonotonicTime.zero
        var standing = ObserverStanding()
    }

    private let followed: Locked<Followed>
    private let watchers = Watchers<News> { news in
        switch news {
        case .state: .state
        case .standing: .standing
        case .ended: .ended
        }
    }
    private let divergences = Locked(0)
    /// Whether a state is made of the one before; then none can be left unread.
    private let dependsOnTheLast: Bool
    private let log: NodeLog
    private let advice: String

    /// - Parameter advice: what to do about a state that cannot be read.
    init(_ follower: StateFollower<Value>, dependsOnTheLast: Bool, log: NodeLog, advice: String) {
        followed = Locked(Followed(follower: follower))
        self.dependsOnTheLast = dependsOnTheLast
        self.log = log
        self.advice = advice
    }

    /// How often what came did not fit what was here.
    var divergenceCount: Int { divergences.withLock { $0 } }

    // MARK: On the connection's thread

    func take(_ action: ObserverAction) -> PeerShell.Observed {
        switch action {
        case .standing(let standing):
            followed.withLock { $0.standing = standing }
            tell(.standing(standing))
        case .ended(let exitCode, let text):
            // Nothing comes after the end.
            readUnread()
            tell(.ended(exitCode: exitCode, text: text))
        case .state where !dependsOnTheLast && watchers.isEmpty:
            let now = SystemClock.monotonic
            followed.withLock { ($0.unread, $0.cameAt) = (action, now) }
            // A watcher may have come meanwhile.
            if !watchers.isEmpty { readUnread() }
        case .send, .state, .again, .chunk, .assembled, .delta, .events, .hash, .transitions, .missed, .refused:
            let now = SystemClock.monotonic
            followed.withLock { $0.cameAt = now }
            return follow(action)
        }
        return .fine
    }

    private func readUnread() { _ = follow(nil) }

    /// Takes an action, after the state that was left unread, and tells what comes of it.
    private func follow(_ action: ObserverAction?) -> PeerShell.Observed {
        var divergence: StateDivergence?
        let shown = followed.withLock { followed -> Seq? in
            // Posted under the lock, so that states are told in their order.
            for case .some(let action) in [followed.unread.take(), action] {
                followed.follower.take(action) { step in
                    switch step {
                    case .shows(let seq, let value): watchers.post(.state(seq, value))
                    case .diverged(let new): divergence = new
                    case .misses: break
                    }
                }
            }
            return followed.follower.current?.seq
        }
        watchers.deliver()
        guard let divergence else { return .fine }
        divergences.withLock { $0 += 1 }
        if case .unreadable = divergence {
            log.once(.diverged, of: "state", "\(divergence); \(advice)", [.reason("\(divergence)")])
        } else {
            log.once(.diverged, "\(divergence)", [.reason("\(divergence)")])
        }
        // The next whole state comes by itself.
        return dependsOnTheLast ? .doubted(shown: shown) : .fine
    }

    private func tell(_ news: News) {
        watchers.post(news)
        watchers.deliver()
    }

    // MARK: Those who look

    /// The newest state that has come, and how old that is; nil before the first.
    var newest: KnownState<Value>? {
        readUnread()
        let now = SystemClock.monotonic
        return followed.withLock { followed in
            followed.follower.current.map { current in
                KnownState(
                    seq: current.seq, state: current.value, age: max(.zero, now - followed.cameAt),
                    isNewest: followed.standing.isCurrent && followed.standing.seq == current.seq)
            }
        }
    }

    /// Calls `body` with what is known, and with everything after it, from any thread, one call at a time and in order.
    func look(_ body: @escaping @Sendable (News) -> Void) -> Int {
        readUnread()
        let id = watchers.add(body)
        // A state that came meanwhile was left unread, for there was no watcher.
        readUnread()
        return id
    }

    func lookAway(_ id: Int) { watchers.remove(id) }
}

extension RemoteStates {
    /// - Parameter connection: kept as long as the stream is read.
    func stream(
        _ buffering: AsyncStream<(seq: Seq, state: Value)>.Continuation.BufferingPolicy,
        keeping connection: RemoteConnection
    ) -> AsyncStream<(seq: Seq, state: Value)> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: (seq: Seq, state: Value).self, bufferingPolicy: buffering)
        let id = look { news in
            switch news {
            case .state(let seq, let value): continuation.yield((seq, value))
            case .ended: continuation.finish()
            case .standing: break
            }
        }
        continuation.onTermination = { _ in
            withExtendedLifetime(connection) { self.lookAway(id) }
        }
        return stream
    }
}

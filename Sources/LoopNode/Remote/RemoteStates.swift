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

    /// The newest of each kind of news, and how many there had been when it came.
    private struct Known {
        var count = 0
        var state: Numbered?
        var standing: Numbered?
        var ended: Numbered?
        var viewers: [Int: Viewer] = [:]
        var next = 0
    }

    private struct Numbered {
        let number: Int
        let news: News
    }

    private struct Followed {
        var follower: StateFollower<Value>
        /// A whole state that nobody has looked at yet.
        var unread: ObserverAction?
    }

    private let followed: Locked<Followed>
    private let known = Locked(Known())
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
        case .standing(let standing): tell(.standing(standing))
        case .ended(let exitCode, let text): tell(.ended(exitCode: exitCode, text: text))
        case .state where !dependsOnTheLast && known.withLock({ $0.viewers.isEmpty }):
            followed.withLock { $0.unread = action }
            // Somebody may have come meanwhile.
            if known.withLock({ !$0.viewers.isEmpty }) { readUnread() }
        case .send, .state, .again, .chunk, .assembled, .delta, .events, .hash, .transitions, .missed, .refused:
            return follow { _ in action }
        }
        return .fine
    }

    private func readUnread() {
        _ = follow { followed in
            defer { followed.unread = nil }
            return followed.unread
        }
    }

    /// Takes an action, and tells what comes of it.
    private func follow(_ next: (inout Followed) -> ObserverAction?) -> PeerShell.Observed {
        var states: [(Seq, Value)] = []
        var divergence: StateDivergence?
        let shown = followed.withLock { followed -> Seq? in
            guard let action = next(&followed) else { return nil }
            followed.follower.take(action) { step in
                switch step {
                case .shows(let seq, let value): states.append((seq, value))
                case .diverged(let new): divergence = new
                case .misses: break
                }
            }
            return followed.follower.current?.seq
        }
        for (seq, value) in states { tell(.state(seq, value)) }
        guard let divergence else { return .fine }
        divergences.withLock { $0 += 1 }
        if case .unreadable = divergence {
            log.once(a: "state", "\(divergence); \(advice)")
        } else {
            log.once(a: "divergence", "\(divergence)")
        }
        // The next whole state comes by itself.
        return dependsOnTheLast ? .doubted(shown: shown) : .fine
    }

    private func tell(_ news: News) {
        let (numbered, viewers) = known.withLock { known in
            known.count += 1
            let numbered = Numbered(number: known.count, news: news)
            switch news {
            case .state: known.state = numbered
            case .standing: known.standing = numbered
            case .ended: known.ended = numbered
            }
            return (numbered, Array(known.viewers.values))
        }
        for viewer in viewers { viewer.take(numbered) }
    }

    // MARK: Those who look

    /// Calls `body` with what is known, and with everything after it, from any thread, one call at a time for each kind of
    /// news and in order.
    func look(_ body: @escaping @Sendable (News) -> Void) -> Int {
        let viewer = Viewer(body)
        let id = known.withLock { known in
            known.next += 1
            known.viewers[known.next] = viewer
            return known.next
        }
        readUnread()
        let all = known.withLock { [$0.state, $0.standing, $0.ended] }
        for numbered in all { if let numbered { viewer.take(numbered) } }
        return id
    }

    func lookAway(_ id: Int) { known.withLock { $0.viewers[id] = nil } }

    /// Somebody who looks: is told nothing that is older than what they were told before.
    private final class Viewer: Sendable {
        private let newest = Locked((state: 0, standing: 0, ended: 0))
        private let body: @Sendable (News) -> Void

        init(_ body: @escaping @Sendable (News) -> Void) { self.body = body }

        func take(_ numbered: Numbered) {
            let isNew = newest.withLock { newest in
                switch numbered.news {
                case .state: Self.isNew(numbered.number, &newest.state)
                case .standing: Self.isNew(numbered.number, &newest.standing)
                case .ended: Self.isNew(numbered.number, &newest.ended)
                }
            }
            if isNew { body(numbered.news) }
        }

        private static func isNew(_ number: Int, _ newest: inout Int) -> Bool {
            guard number > newest else { return false }
            newest = number
            return true
        }
    }
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

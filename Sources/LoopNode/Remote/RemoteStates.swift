package import LoopCluster
import LoopCore
import LoopCollections
package import LoopWire

/// What is known of the state, or of a section, of a loop that runs elsewhere. It is decoded once for all watchers.
package final class RemoteStates<Value: Codable & Sendable>: Sendable {
    /// What watchers receive.
    package enum News: Sendable {
        /// The newest state. It is not new if only its ID has changed, as when the reducer starts again on its journal.
        case state(StateID, Value, isNew: Bool)
        case standing(ObserverStanding)
        case ended(exitCode: Int32, text: String)
    }

    private struct Followed {
        var follower: StateFollower<Value>
        /// A whole state that was not decoded yet.
        var unread: ObserverAction?
        /// When the newest state came.
        var cameAt = MonotonicTime.zero
        var standing = ObserverStanding()
        /// The history and the epoch that are followed. Its seq is not used.
        var place = StateID.none
        /// The histories that were followed earlier.
        var left = LeftHistories()
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
    /// Whether a state is made from the previous one, so that none can be left unread.
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

    /// How often an update did not fit the state here.
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
        case .begins(let history, let epoch):
            readUnread()
            followed.withLock { followed in
                if followed.place.history != history { followed.left.insert(followed.place.history) }
                followed.left.remove(history)
                followed.place = StateID(history: history, epoch: epoch, seq: .initial)
            }
            return follow(action)
        case .state where !dependsOnTheLast && watchers.isEmpty:
            let now = SystemClock.monotonic
            followed.withLock { ($0.unread, $0.cameAt) = (action, now) }
            // A watcher may have come meanwhile.
            if !watchers.isEmpty { readUnread() }
        case .send, .state, .again, .chunk, .assembled, .delta, .hash, .transitions, .missed, .refused:
            let now = SystemClock.monotonic
            followed.withLock { $0.cameAt = now }
            return follow(action)
        }
        return .fine
    }

    private func readUnread() { _ = follow(nil) }

    /// Takes an action, after the state that was left unread, and delivers the resulting news.
    private func follow(_ action: ObserverAction?) -> PeerShell.Observed {
        var divergence: StateDivergence?
        let shown = followed.withLock { followed -> Seq? in
            // News is posted under the lock, so that states are delivered in their order.
            for case .some(let action) in [followed.unread.take(), action] {
                followed.follower.take(action) { step in
                    switch step {
                    case .shows(let id, let value): watchers.post(.state(id, value, isNew: true))
                    case .renames(let id, let value): watchers.post(.state(id, value, isNew: false))
                    case .diverged(let new): divergence = new
                    }
                }
            }
            return followed.follower.shown
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

    // MARK: For watchers

    /// The newest state that has come, and its age, or nil before the first.
    var newest: KnownState<Value>? {
        readUnread()
        let now = SystemClock.monotonic
        return followed.withLock { followed in
            followed.follower.current.map { current in
                KnownState(
                    id: current.id, state: current.value, age: max(.zero, now - followed.cameAt),
                    isNewest: followed.standing.isCurrent && followed.standing.state == current.id)
            }
        }
    }

    /// How this follower compares with a wanted state.
    enum Answer {
        /// The follower has reached the wanted state.
        case reached(StateID, Value)
        /// A later state may be the wanted one.
        case pending
        /// The follower is in another history, and has never been in that of the wanted state.
        case elsewhere
        /// The wanted state is of a history that is over, or the journal has lost it.
        case lost
    }

    func answer(about wanted: StateID) -> Answer {
        readUnread()
        return followed.withLock { followed in
            if followed.left.contains(wanted.history) { return .lost }
            guard let current = followed.follower.current else { return .pending }
            switch current.id.relation(to: wanted) {
            case .reached: return .reached(current.id, current.value)
            case .before: return .pending
            case .unrelated: return followed.place.history == wanted.history ? .pending : .elsewhere
            case .lost: return .lost
            }
        }
    }

    /// Whether a state that this follower has shown is the wanted one or a later one, or the wanted one is lost.
    package func isPast(_ wanted: StateID, at id: StateID) -> Bool {
        switch id.relation(to: wanted) {
        case .reached, .lost: true
        case .before: false
        case .unrelated: id.history != wanted.history && followed.withLock { $0.left.contains(wanted.history) }
        }
    }

    /// The history and the epoch that are followed. The seq is not used.
    var place: StateID { followed.withLock { $0.place } }

    /// Calls `body` with what is known and with every later change, from any thread, one call at a time and in order.
    func look(_ body: @escaping @Sendable (News) -> Void) -> Int {
        readUnread()
        let id = watchers.add(body)
        // A state that came meanwhile was left unread, because there was no watcher.
        readUnread()
        return id
    }

    func lookAway(_ id: Int) { watchers.remove(id) }
}

extension RemoteStates {
    /// A stream with one element at the beginning, and one after each change. It ends with the loop.
    /// - Parameter deadline: when the stream ends at the latest, or nil if it has no such limit.
    func changes(keeping connection: RemoteConnection, until deadline: MonotonicTime? = nil) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield()
        let id = look { news in
            continuation.yield()
            if case .ended = news { continuation.finish() }
        }
        let alarm = deadline.map { deadline in
            // No child task, because the stream that it ends outlives this call. The end of the stream cancels it.
            Task {
                try await Task.sleep(for: max(.zero, deadline - SystemClock.monotonic))
                continuation.finish()
            }
        }
        continuation.onTermination = { _ in
            alarm?.cancel()
            withExtendedLifetime(connection) { self.lookAway(id) }
        }
        return stream
    }

    /// - Parameter connection: kept open as long as the stream is read.
    /// - Parameter element: makes the stream's element from a state, or returns nil to leave the state out. If a state only
    ///   gets another ID, it is not given again, but one that was left out is tried again.
    func stream<Element>(
        _ buffering: AsyncStream<Element>.Continuation.BufferingPolicy, keeping connection: RemoteConnection,
        _ element: @escaping @Sendable (StateID, Value) -> Element?
    ) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: buffering)
        let isGiven = Locked(false)
        let id = look { news in
            switch news {
            case .state(let id, let value, let isNew):
                guard isNew || !isGiven.withLock({ $0 }) else { return }
                let element = element(id, value)
                isGiven.withLock { $0 = element != nil }
                if let element { continuation.yield(element) }
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

import LoopCluster
import LoopCore
import LoopWire
import ZMQ

/// What it takes to push events: a peer's driver, and its PUSH socket. Whoever has the lock around it has both.
///
///     owned ── the owning thread has pushed all there is, and will sleep ──▶ idle ── a sender pushes its event ─┐
///       ▲                                                                    │ ▲                                │
///       └───────────────────── the owning thread wakes up ───────────────────┘ └────────────────────────────────┘
///
/// The owning thread is the one with the peer's other sockets. While it sleeps, and no event of the peer is under way, a
/// sender pushes by itself: else it would wake that thread, to do the same. A sender only tries the lock, so nobody waits
/// for the owning thread, which may call out while it has it: to the handlers of effects that it cancels.
struct PeerPusher: ~Copyable, @unchecked Sendable {
    var driver: PeerDriver
    private var push: Socket?
    private var isIdle = false

    init(_ driver: PeerDriver) { self.driver = driver }

    // MARK: The owning thread

    /// From now on senders leave what they have to this thread.
    mutating func own() { isIdle = false }

    /// Pushes by another socket from now on.
    /// - Returns: its place in the poll set.
    mutating func connect(
        to collector: String, in context: ZMQContext, _ polls: inout PollSet
    ) throws(ZMQError) -> PollSet.Item {
        push = nil
        var new = try Socket(.push, in: context, options: .peer)
        try new.connect(collector)
        let item = polls.add(new, for: [])
        push = consume new
        return item
    }

    /// Pushes what is ready, and leaves the rest to senders.
    /// - Returns: false where the socket takes no more: to be called again when it does.
    mutating func flush() throws(ZMQError) -> Bool {
        isIdle = try pushAll()
        return isIdle
    }

    private mutating func pushAll() throws(ZMQError) -> Bool {
        guard push != nil else { return true }
        while let batch = driver.nextBatch() {
            guard try push?.send(batch.bytes) == .sent else {
                driver.couldNotPush(batch)
                return false
            }
        }
        return true
    }

    // MARK: A sender

    /// Pushes what was posted, where nothing is under way.
    /// - Returns: false: the owning thread is to be woken, whether something was pushed or not.
    mutating func pushPosted(at now: MonotonicTime) -> Bool {
        guard isIdle, push != nil, driver.isQuiet else { return false }
        let deadline = driver.machine.deadline
        driver.takePosted(at: now, isSignalled: false)
        driver.machine.advance(to: now)
        // What the socket throws the owning thread meets, too.
        isIdle = (try? pushAll()) ?? false
        return isIdle && driver.isContent && driver.machine.deadline >= deadline
    }
}

import LoopCluster
import LoopCore
import LoopCollections
import LoopWire
import ZMQ

/// The sockets of a peer and the thread that owns them: waits, drains, takes the driver's turn, sends.
///
/// All decisions are in the machines.
struct PeerShell: ~Copyable {
    let context: ZMQContext
    let reducer: ReducerAddress
    /// The address of the present connection.
    var place: ReducerAddress
    /// Runs tasks on this thread.
    private let executor: ConnectionExecutor?
    var driver: PeerDriver
    var observer: ObserverMachine?
    private var standing = ObserverStanding()
    /// The histories in which this peer has taken part, the newest last.
    private var histories: [History] = []
    private let observed: @Sendable (ObserverAction) -> Observed
    let log: NodeLog
    /// What is shown of its health, or nil if nothing is.
    private let board: PeerBoard?

    var dealer: DialledSocket
    /// Whether a message found no connection.
    var wasUnheard = false
    var listeners: [Listener] = []
    /// Whether the peer listens at all addresses that it knows now.
    var listensEverywhere = false
    private var push: Socket?
    /// The endpoint for batches, as the reducer advertised it.
    private var collector: String?
    var polls: PollSet
    var dealerItem: PollSet.Item
    var handshakeItem: PollSet.Item
    private let gateItem: PollSet.Item
    private var pushItem: PollSet.Item?
    private var message = Message()

    // While there is no reducer.
    private var wait: ReducerWait
    private let research: AddressResearch
    var busy: String?
    /// How long after a stop begins the log says what it waits for, or nil if it has said so.
    var stopNotice: Duration? = .seconds(2)
    /// The leader that the standby at the present address has named, or an empty text if it knows none.
    var standbyOf: String?

    /// What the reader made of an action of the observer's machine.
    enum Observed: Sendable {
        case fine
        /// The action does not fit the state. The newest state that is shown nevertheless has this seq.
        case doubted(shown: Seq?)
    }

    /// - Parameters:
    ///   - executor: runs its tasks on the thread that calls `run`, in the middle of its turns.
    ///   - connectTimeout: how long to wait for the reducer at start, or nil to wait forever.
    ///   - board: receives what is shown of its health.
    init(
        context: ZMQContext, reducer: ReducerAddress, driver: PeerDriver, observer: ObserverMachine?, log: NodeLog,
        connectTimeout: Duration? = nil, executor: ConnectionExecutor? = nil, board: PeerBoard? = nil,
        observed: @escaping @Sendable (ObserverAction) -> Observed
    ) throws(ZMQError) {
        let place = reducer.each[0]
        let dealer = try DialledSocket(place, .control, in: context)
        var polls = PollSet()
        (dealerItem, handshakeItem) = dealer.add(to: &polls)
        gateItem = polls.add(descriptor: driver.gate.descriptor)
        self.context = context
        self.reducer = reducer
        self.place = place
        research = AddressResearch(reducer, wakeup: driver.gate.wakeup)
        self.executor = executor
        self.driver = driver
        self.observer = observer
        self.observed = observed
        self.log = log
        self.board = board
        self.dealer = dealer
        self.polls = polls
        wait = ReducerWait(reducer: reducer, timeout: connectTimeout, at: SystemClock.monotonic)
        research.lookUp()
    }

    /// Takes turns until the loop ends, the peer has stopped, or the reducer refuses it.
    /// - Throws: `NodeKilled`, the reason why the reducer refuses it, or an error of the sockets.
    /// - Parameter stopLimit: how long a stop waits for the outbox to be settled.
    mutating func run(stopLimit: Duration) throws -> NodeEnd {
        defer { driver.cancelBodies() }
        let end = try live(stopLimit: stopLimit)
        defer { driver.tellSenders() }
        try driver.keep(at: SystemClock.monotonic, isLast: true)
        return end
    }

    private mutating func live(stopLimit: Duration) throws -> NodeEnd {
        while true {
            let now = SystemClock.monotonic
            var deadline = nextDeadline
            deadline = min(deadline, wait.deadline, dealer.deadline)
            if let stoppedAt = driver.stoppedAt {
                let next = stopNotice.map { stoppedAt + min($0, stopLimit) } ?? stoppedAt + stopLimit
                deadline = min(deadline, next)
                if now >= next { noteStop(limit: stopLimit, isOver: now >= stoppedAt + stopLimit) }
                if now >= stoppedAt + stopLimit {
                    driver.gate.close(
                        SendRefusal(.ended, detail: "the node stopped before the outcome was known"),
                        mayBeApplied: driver.hasOffered)
                    return .stopped
                }
            }
            let maySleep = driver.gate.maySleep() && executor?.maySleep() ?? true
            try polls.wait(milliseconds: maySleep ? SystemClock.milliseconds(from: now, until: deadline) : 0)
            driver.gate.begin()
            executor?.begin()
            try driver.gate.killSwitch.check()
            if let end = try turn() { return end }
        }
    }

    /// When the machines need their next turn.
    private var nextDeadline: MonotonicTime {
        switch observer {
        case .some(let observer): driver.machine.deadline(with: observer)
        case .none: driver.machine.deadline
        }
    }

    private mutating func turn() throws -> NodeEnd? {
        let now = SystemClock.monotonic
        try watchHandshakes(at: now)
        try drain(at: now)
        if let executor {
            // A task that runs here learns the outcome of its event, and sends its next one in the same turn.
            if let end = try act(at: now) { return end }
            executor.runJobs()
        }
        driver.takePosted(at: now, isSignalled: polls.isReadable(gateItem), log)
        if let end = try act(at: now) { return end }
        try flush()
        if !listensEverywhere { listenEverywhere() }
        try watchWait(at: now)
        driver.watchPool(at: now, log)
        showHealth()
        return nil
    }

    /// Performs the machines' actions, and gives senders their results.
    private mutating func act(at now: MonotonicTime) throws -> NodeEnd? {
        defer { driver.tellSenders() }
        observer?.advance(to: now)
        observer?.share(with: &driver.machine, at: now)
        let actions = driver.turn(at: now, log)
        try driver.keep(at: now)
        try performObserved()
        for action in actions {
            if let end = try perform(action) { return end }
        }
        if let new = observer?.standing(isHeard: driver.machine.isJoined), new != standing {
            standing = new
            _ = observed(.standing(new))
        }
        return nil
    }

    private func showHealth() {
        board?.note { contents in
            contents.losses = driver.machine.contactLosses
            contents.isJoined = driver.machine.isJoined
            if contents.isJoined { contents.waitsFor = nil }
            contents.place = place.description
            contents.capacity = driver.machine.configuration.capacity
            contents.runningCount = driver.runningCount
            contents.outboxCount = driver.machine.outbox.count
            contents.outboxByteCount = driver.machine.outbox.byteCount
            contents.turnAt = SystemClock.monotonic
        }
    }

    /// Logs that the loop continues in another history.
    private mutating func noteHistory() {
        let new = driver.machine.history
        guard new != histories.last else { return }
        defer { histories = histories.filter { $0 != new }.suffix(15) + [new] }
        guard let old = histories.last else { return }
        let again =
            histories.contains(new)
            ? "; this peer was in it before: a backup was put back, or reducers with different journals lead in turn"
            : ""
        log.note(
            .historyChanged,
            "the reducer at \(place) leads in history \(new); this peer was in history \(old), and whether what it had sent there was"
                + " applied is not known, unless it was settled\(again)", [.address("\(place)"), .history("\(new)")])
    }

    /// Logs what this node waits for, if there is no reducer.
    private mutating func watchWait(at now: MonotonicTime) throws(NodeError) {
        let isJoined = driver.machine.isJoined
        if isJoined { noteHistory() }
        let findings = research.take()
        if let places = findings.places {
            driver.machine.learn(places: places, at: now)
            listensEverywhere = false
        }
        if isJoined, wait.isInContact { return }
        if isJoined { (busy, standbyOf) = (nil, nil) } else if wait.isInContact { research.lookUp() }
        var actions = findings.obstacles.map { wait.learned($0, at: now) } ?? []
        actions += wait.advance(
            to: now,
            ReducerWait.Facts(
                place: place.description, isJoined: isJoined, isConnected: !wasUnheard, handshakes: dealer.obstacle,
                busy: busy, standbyOf: standbyOf))
        for action in actions {
            switch action {
            case .waiting(let text, let duration, let why):
                log.note(.waiting, text, [.address("\(reducer)"), .duration(duration), .reason(why)])
                board?.note { $0.waitsFor = text }
            case .reconnected(let text, let duration):
                log.note(.reconnected, text, [.address("\(reducer)"), .duration(duration)])
            case .look: research.look(ending: dealer.obstacle == .ended ? place : nil)
            case .giveUp(let limit, let why): throw .noAnswer(reducer, after: limit, because: why)
            }
        }
    }

    /// Reads the events of the handshakes. A peer that is not admitted ends; with any other obstacle it waits.
    private mutating func watchHandshakes(at now: MonotonicTime) throws {
        guard polls.isReadable(handshakeItem) || now >= dealer.deadline else { return }
        try dealer.readEventsIfAdmitted(at: now)
    }

    private mutating func drain(at now: MonotonicTime) throws {
        if polls.isReadable(dealerItem) {
            while try dealer.socket.receive(into: &message) { try receiveReply(message.copy(), at: now) }
        }
        if wasUnheard, polls.isWritable(dealerItem) {
            wasUnheard = false
            polls.watch(dealerItem, for: .readable)
            driver.machine.hasConnected()
        }
        for listener in listeners where polls.isReadable(listener.item) {
            while try listener.socket.receive(into: &message) {
                receivePublished(message.copy(), from: listener.place, at: now)
            }
        }
    }

    private mutating func receiveReply(_ bytes: [UInt8], at now: MonotonicTime) throws {
        if let version = Wire.foreignVersion(of: bytes[...]), !driver.machine.isJoined {
            let refused = Refused(.protocolVersion, reducer: "\(version)", peer: "\(Wire.version)")
            throw NodeError.refused(refused.description)
        }
        do {
            let frame = try PeerFrame(bytes: bytes[...])
            switch frame.message {
            case .busy(.hello, _, let reason), .busy(.join, _, let reason): busy = reason
            case .redirect(let leader): standbyOf = leader
            case .noLeader: standbyOf = ""
            default: break
            }
            observer?.receiveReply(frame, at: now)
            driver.machine.receiveReply(frame, at: now)
        } catch {
            log.malformed("reducer", error)
        }
    }

    private mutating func receivePublished(_ bytes: [UInt8], from place: String, at now: MonotonicTime) {
        do {
            let (topic, frame) = try PeerFrame.published(bytes[...])
            if case .inbox = topic {
                driver.machine.receivePublished(frame, from: place, at: now)
            } else {
                observer?.receivePublished(frame, at: now)
                driver.machine.hear(frame, from: place, at: now)
            }
        } catch {
            log.malformed("publisher", error)
        }
    }

    private mutating func perform(_ action: PeerAction) throws -> NodeEnd? {
        switch action {
        case .send(let message): try say(message)
        case .connect(let introduction):
            do {
                try connect(introduction)
            } catch let error as ZMQError {
                noteBadAddress(error)
                driver.machine.couldNotConnect()
            }
        case .dial(let address):
            do {
                try dial(address)
            } catch {
                noteBadAddress(error)
                driver.machine.couldNotDial()
            }
        case .redial: try dealer.redial()
        case .lookUp: research.lookUp()
        case .rebuildPush: try buildPush()
        case .refused(let refused): throw NodeError.refused(refused.description)
        case .loopEnded(let exitCode, let text): return .loopEnded(exitCode: exitCode, text: text)
        case .finished: return .stopped
        case .keptWaiting(let reason):
            log.note(.keptWaiting, "the reducer keeps this peer waiting: \(reason)", [.reason(reason)])
        case .run, .update, .stop, .settled, .answered, .hasSpace: break
        }
        return nil
    }

    /// Sends a message. Without a connection nothing is queued; the machine repeats what it still needs to send.
    private mutating func say(_ message: ToReducer) throws {
        switch try dealer.send(message.bytes(loop: driver.machine.loop)) {
        case .queued: break
        case .redialled: driver.machine.hasRedialled()
        case .unheard:
            wasUnheard = true
            polls.watch(dealerItem, for: [.readable, .writable])
        }
    }

    /// Passes an action to the reader. A delta of many entries takes milliseconds, so it counts as background work.
    private func show(_ action: ObserverAction) -> Observed {
        guard case .delta = action else { return observed(action) }
        return BackgroundWork.run { observed(action) }
    }

    private mutating func performObserved() throws {
        var hasDiverged = false
        for action in observer?.takeActions() ?? [] where !hasDiverged || !action.buildsOnTheLast {
            switch action {
            case .send(let message): try say(message)
            case .refused(let refused): throw NodeError.refused(refused.description)
            // The way out of `run` reports it, because by then nothing can be sent any more.
            case .ended: break
            case .begins, .state, .again, .chunk, .assembled, .delta, .hash, .transitions, .missed, .standing:
                guard case .doubted(let shown) = show(action) else { continue }
                observer?.resync(shown: shown)
                hasDiverged = true
            }
        }
    }

    private mutating func connect(_ introduction: Introduction) throws {
        try listen(at: place, publisher: place.endpoint(advertised: introduction.publisher))
        listensEverywhere = false
        collector = introduction.collector
        try buildPush()
    }

    private mutating func buildPush() throws {
        guard let collector else { return }
        if let pushItem { polls.remove(pushItem) }
        push = nil
        let new = try place.connect(.batches, advertised: collector, in: context)
        pushItem = polls.add(new, for: [])
        push = consume new
    }

    /// Pushes batches that are ready. While the socket takes no more, it is watched.
    private mutating func flush() throws {
        guard let pushItem else { return }
        while let batch = driver.machine.nextBatch() {
            guard try push?.send(batch.bytes) == .sent else {
                driver.machine.couldNotPush(batch)
                return polls.watch(pushItem, for: .writable)
            }
        }
        polls.watch(pushItem, for: [])
    }
}

/// The sockets of a peer at several addresses: it sends to one of them, and listens at all.
extension PeerShell {
    /// Connects to an address, to which every later message goes.
    mutating func dial(_ address: String) throws {
        let new = try reducer.other(at: address)
        let socket = try DialledSocket(new, .control, in: context)
        polls.remove(dealerItem)
        polls.remove(handshakeItem)
        (dealerItem, handshakeItem) = socket.add(to: &polls)
        dealer = consume socket
        place = new
        (wasUnheard, standbyOf, busy) = (false, nil, nil)
        listensEverywhere = false
    }

    func noteBadAddress(_ error: any Error) {
        log.once(
            .badAddress, "the reducer names an address that cannot be used: \(error); asking again",
            [.reason("\(error)")])
    }

    // MARK: Listening

    /// Listens at an address with a new socket.
    mutating func listen(at place: ReducerAddress, publisher: String) throws(ZMQError) {
        forgetListeners { $0 == place.description }
        let (loop, peer) = (driver.machine.loop, driver.machine.configuration.peer)
        var topics = [.inbox(loop, peer)] + (observer?.topics(of: loop) ?? [])
        if driver.machine.places.count > 1, observer == nil { topics.append(.tick(loop)) }
        listeners.append(try Listener(at: place, publisher: publisher, topics: topics, in: context, &polls))
    }

    private mutating func forgetListeners(where isGone: (String) -> Bool) {
        for gone in listeners where isGone(gone.place) { polls.remove(gone.item) }
        listeners.removeAll { isGone($0.place) }
    }

    /// Listens at all addresses, so that the next leader is received at once. For a reducer that has not named its publisher,
    /// the endpoint is derived as `--bind` does. If that is wrong, the reducer is found by greeting it.
    mutating func listenEverywhere() {
        // A tool has no loop's name until the reducer gives it.
        guard driver.machine.loop != LoopID(name: "") else { return }
        listensEverywhere = true
        let (places, current) = (driver.machine.places, place.description)
        forgetListeners { !places.contains($0) && $0 != current }
        // A single address publishes nothing for this peer before it has answered.
        if places == [current] { return }
        for text in places where !listeners.contains(where: { $0.place == text }) {
            guard let place = try? reducer.other(at: text), let publisher = BindAddress.publisher(at: place) else {
                continue
            }
            try? listen(at: place, publisher: publisher)
        }
    }
}

extension PeerShell {
    /// Logs what a stop waits for, or what it has waited for in vain.
    mutating func noteStop(limit: Duration, isOver: Bool) {
        stopNotice = nil
        guard let text = driver.unconfirmed.text(reducer: reducer, within: limit, isOver: isOver) else { return }
        log.note(isOver ? .unsettled : .waiting, text, [.address("\(reducer)")])
    }
}

/// The socket on which a peer receives what a reducer publishes. There is one for each address, because only the socket shows
/// where a frame came from.
final class Listener {
    /// The address at which the peer greets the reducer.
    let place: String
    var socket: Socket
    let item: PollSet.Item

    init(
        at place: ReducerAddress, publisher endpoint: String, topics: [Topic], in context: ZMQContext,
        _ polls: inout PollSet
    ) throws(ZMQError) {
        var socket = try place.socket(.updates, in: context)
        try socket.connect(endpoint)
        for topic in topics { try socket.subscribe(topic.bytes) }
        self.place = place.description
        item = polls.add(socket)
        self.socket = socket
    }
}

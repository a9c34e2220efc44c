import CBOR
import Linux
import LoopCluster
import LoopCore
import LoopKeys
import LoopWire
import ZMQ

/// The sockets of a reducer: ROUTER for control, XPUB for what it publishes, PULL for batches. One thread uses them.
///
/// They outlive a machine: a reducer that starts again from its journal keeps its addresses and its connections. With keys,
/// each of the reducer's own keys has separate endpoints (``Door``), and every message comes with the key of its connection.
struct ReducerSockets: ~Copyable {
    /// The address of the bound ROUTER, with the actual port if any free one was requested.
    let bound: ReducerAddress
    /// What is advertised to peers for the other two sockets.
    let publisherAddress: String
    let collectorAddress: String
    private let context: ZMQContext
    private let loop: LoopID
    private let log: NodeLog
    /// Whether the sockets have keys.
    private let isGuarded: Bool
    /// Whether other machines can connect.
    private let isReachable: Bool
    private var doors: ReducerDoors
    private var router: Socket
    private var publisher: Socket
    private var collector: Socket
    private var polls: PollSet
    /// The descriptor of the journal and its poll item, while appends are under way.
    private var journal: (descriptor: Int32, item: PollSet.Item)?
    private var readyCount = 0
    private let items: (router: PollSet.Item, publisher: PollSet.Item, collector: PollSet.Item)
    private var message = Message()
    private var sender = RoutingID()
    private var malformedSeen: UInt64 = 0
    private var malformedBytes: UInt64 = 0
    private let connections: ConnectionWatch
    /// The thread that watches the connections.
    private let watch: SocketWatch
    private let files: SocketFiles
    private var unownedInboxes = UnownedInboxes()
    private var refusedSubscriptions: UInt64 = 0
    /// The listeners besides the workers.
    private(set) var subscriptions = Subscriptions()
    /// Takes requests of this process, or nil if it makes none.
    private let desk: (desk: StatusDesk, item: PollSet.Item)?

    /// How much one turn takes from the collector, so that control messages are read soon.
    private static var messagesPerTurn: Int { 1024 }
    private static var bytesPerTurn: Int { 8 << 20 }
    /// How many streams of updates are known, whether or not they are served.
    private static var streamsMax: Int { 1024 }

    /// Binds the sockets. With keys, it checks that each of them refuses a key that is not admitted.
    /// - Parameters:
    ///   - servers: the reducer's own keys, empty if it has none.
    ///   - limits: what connections may cost.
    ///   - desk: takes requests of this process, or nil if it makes none.
    init(
        bind: BindAddress, servers: [ServerKey], limits: ConnectionLimits, loop: LoopID, context: ZMQContext,
        desk: StatusDesk?, log: NodeLog
    ) throws {
        let bind = try bind.lookedUp()
        let asked = limits.connectionsMax
        let limits = limits.within(descriptors: DescriptorLimit.current)
        if limits.connectionsMax < asked {
            log.note(
                .connectionsFull,
                "\(limits.connectionsMax) connections may be open in place of \(asked), because this process may have"
                    + " \(DescriptorLimit.current) files open; raise `ulimit -n`, or give fewer (--connections-max)")
        }
        let connections = ConnectionWatch(limits: limits)
        var router = try bind.socket(.router, server: servers.first, limits, in: context)
        var publisher = try bind.socket(.publisher, server: servers.first, limits, in: context)
        var collector = try bind.socket(.collector, server: servers.first, limits, in: context)
        let files = SocketFiles()
        let watch = try SocketWatch()
        try watch.add(router)
        try watch.add(publisher)
        try watch.add(collector)
        // The watch must end before the sockets close.
        var isComplete = false
        defer { if !isComplete { watch.stop() } }
        // In the order of `ReducerSocket.allCases`.
        try watch.start(
            "loop-connections", tell: { connections.take($1, of: ReducerSocket.allCases[$0]) },
            pulse: {
                for path in files.gone(of: connections.paths) {
                    log.note(
                        .badAddress,
                        "the socket \(path) was removed or replaced: no peer can connect to it any more, and those that are connected"
                            + " go on; start this reducer again", [.address("ipc://\(path)")])
                }
                if let count = connections.takeFullNotice() {
                    log.note(
                        .connectionsFull,
                        "\(count == 1 ? "a connection was" : "\(count) connections were") ended, because"
                            + " \(limits.connectionsMax) may be open; raise --connections-max, and `ulimit -n` if it is lower"
                    )
                }
                return connections.pulse()
            })
        let first = ReducerDoors.Endpoints(
            router: try router.bind(bind.router), publisher: try publisher.bind(bind.publisher),
            collector: try collector.bind(bind.collector))
        let doors = ReducerDoors(first, of: try ReducerAddress(parsing: first.router), server: servers.first)
        connections.listen(at: doors.localAddresses)
        // The first call notes the files.
        _ = files.gone(of: connections.paths)
        if let server = servers.first {
            let dialled = try first.dialled()
            connections.expectFailures(dialled.count)
            try StrangerCheck.demandRefusal(
                by: dialled, server: server.certificate.publicKey, context: context)
        }
        var polls = PollSet()
        let bound = try ReducerAddress(parsing: first.router)
        let (boundPublisher, boundCollector) = try (
            Endpoint(parsing: first.publisher), Endpoint(parsing: first.collector)
        )
        items = (polls.add(router), polls.add(publisher), polls.add(collector))
        self.desk = desk.map { ($0, polls.add(descriptor: $0.descriptor)) }
        self.bound = bound
        publisherAddress = boundPublisher.advertised
        collectorAddress = boundCollector.advertised
        self.doors = doors
        self.connections = connections
        self.watch = watch
        self.files = files
        isGuarded = !servers.isEmpty
        isReachable = !bound.endpoint.isLocal
        self.context = context
        self.loop = loop
        self.log = log
        self.router = router
        self.publisher = publisher
        self.collector = collector
        self.polls = polls
        isComplete = true
    }

    /// Stops the thread that watches before the sockets close.
    deinit { watch.stop() }

    // MARK: Keys

    /// Opens endpoints for each of the reducer's own keys, and closes those of removed keys.
    mutating func open(_ servers: [ServerKey]) throws {
        let changes = try doors.changes(to: servers)
        files.pause()
        defer { files.resume() }
        connections.listen(at: doors.localAddresses)
        for change in changes {
            switch change {
            case .close(let endpoints):
                try router.unbind(endpoints.router)
                try publisher.unbind(endpoints.publisher)
                try collector.unbind(endpoints.collector)
                log.note(
                    .keysChanged, "\(endpoints.router) is closed: its key is gone", [.address("\(endpoints.router)")])
            case .open(let door, let server, let endpoints):
                func security(_ socket: ReducerSocket) -> SocketSecurity { socket.security(server, door) }
                try router.bind(endpoints.router, security: security(.router))
                try publisher.bind(endpoints.publisher, security: security(.publisher))
                try collector.bind(endpoints.collector, security: security(.collector))
                log.note(
                    .keysChanged,
                    "listening at \(endpoints.router) too, with the key \(server.certificate.publicKey)",
                    [.address("\(endpoints.router)")])
            }
        }
    }

    /// Ends the connections that have used one of these keys.
    func endConnections(of keys: Set<PublicKey>) { connections.end(of: keys) }

    /// The principal and the connection of the last message read.
    private func principal(_ socket: ReducerSocket) -> (Principal, ConnectionTable.ID?) {
        let key = isGuarded ? message.peerKey : nil
        let id = message.peerDescriptor.map { ConnectionTable.ID(socket: socket, descriptor: $0) }
        if let id {
            connections.hear(id, key, route: socket == .router ? sender.bytes : nil, byteCount: message.count)
        }
        if let key { return (.key(key), id) }
        // Only a join request is judged by its address, and that comes over the router.
        guard isReachable, socket == .router, let text = message.peerAddress else { return (.unknown, id) }
        let address = HostAddress(text)
        return (address?.isLoopback == true ? .unknown : .address(address?.machine ?? text), id)
    }

    /// Ends connections that listen to the inbox of a peer that belongs to another key.
    /// - Parameter owner: the key of a peer's session, if it has one.
    mutating func settleInboxes(owner: (PeerID) -> PublicKey?) {
        for descriptor in unownedInboxes.settle(owner: owner) {
            refusedSubscriptions += 1
            connections.end(ConnectionTable.ID(socket: .publisher, descriptor: descriptor))
        }
    }

    @discardableResult
    mutating func watch(descriptor: Int32) -> PollSet.Item { polls.add(descriptor: descriptor) }

    mutating func unwatch(_ item: PollSet.Item) { polls.remove(item) }

    /// Waits for a journal's receipts too from now on, or not if the descriptor is nil.
    mutating func watch(journal descriptor: Int32?) {
        guard descriptor != journal?.descriptor else { return }
        if let journal { polls.remove(journal.item) }
        journal = descriptor.map { ($0, polls.add(descriptor: $0)) }
    }

    mutating func wait(milliseconds: Int) throws { readyCount = try polls.wait(milliseconds: milliseconds) }

    /// Whether the last wait found anything but receipts of the journal.
    var hasNews: Bool {
        let isJournalReady = journal.map { !polls.readiness(of: $0.item).isEmpty } ?? false
        return readyCount > (isJournalReady ? 1 : 0)
    }

    /// Whether the last wait found something to read.
    func isReadable(_ item: PollSet.Item) -> Bool { polls.isReadable(item) }

    /// Counts frames that could not be read since the last call.
    mutating func takeMalformedCount() -> UInt64 {
        // Messages of several frames are counted by the sockets.
        let total = router.malformedMessages + collector.malformedMessages + malformedBytes
        defer { malformedSeen = total }
        return total - malformedSeen
    }

    /// Counts what has happened to connections since the last call.
    mutating func takeConnectionCounts() -> [Counter: UInt64] {
        var counts = connections.takeCounts()
        if refusedSubscriptions > 0 { counts[.subscriptionRefused] = refusedSubscriptions }
        refusedSubscriptions = 0
        return counts
    }

    /// How many connections there are, and how many there may be.
    var connectionRoom: (count: Int, max: Int) { connections.room }

    /// Reads the control messages that have arrived: all, or as many as the time allows. Each connection is read before any
    /// lease is judged.
    mutating func drainControl(
        for duration: Duration, _ body: (ToReducer?, Route, Principal, _ foreignVersion: UInt8?) throws -> Void
    ) throws {
        if let desk, polls.isReadable(desk.item) {
            for id in desk.desk.take() { try body(.statusRequest, .router(id), .local, nil) }
        }
        guard polls.isReadable(items.router) else { return connections.drain(.router) }
        var limit = DrainLimit(ends: SystemClock.monotonic + duration)
        while limit.allowsMore {
            guard try router.receive(from: &sender, into: &message) else { return connections.drain(.router) }
            limit.hear(sender.bytes, at: SystemClock.monotonic)
            let (principal, _) = principal(.router)
            let bytes = message.copy()
            if let version = Wire.foreignVersion(of: bytes[...]) {
                try body(nil, .router(sender.bytes), principal, version)
                continue
            }
            do {
                let request = try ToReducer(bytes: bytes[...], loop: loop)
                if isGuarded, case .hello = request {
                    doors.note(Door(property: message.property(Door.property)), of: sender.bytes)
                }
                try body(request, .router(sender.bytes), principal, nil)
            } catch let error as WireError {
                malformedBytes += 1
                log.malformed("a peer's control connection", error)
            }
        }
    }

    /// Reads subscriptions: a byte 1 for a subscription or 0 for the end of the last one, and the topic. Only whole topics are
    /// served. A connection that subscribes to a prefix would receive what is for others, and is ended.
    /// - Parameters:
    ///   - duration: how long the turn may take for them. The next turn takes the rest.
    ///   - mayFollow: whether a principal may listen to a topic, given the peer whose inbox its connection listens to.
    ///   - inbox: called with each peer whose inbox has a listener from now on.
    ///   - stream: called with each stream of updates that has a follower from now on.
    mutating func drainSubscriptions(
        for duration: Duration,
        mayFollow: (Topic, Principal, PeerID?) -> Bool, inbox: (PeerID) -> Void, stream: (UpdateStream) -> Void
    ) throws {
        guard polls.isReadable(items.publisher) else { return }
        let ends = SystemClock.monotonic + duration
        repeat {
            guard try publisher.receive(into: &message) else { return }
            let (principal, id) = principal(.publisher)
            let bytes = message.copy()
            let begins = bytes.first == 1
            guard let first = bytes.first, first <= 1, let topic = try? Topic(bytes: bytes[1...]),
                !begins || mayFollow(topic, principal, id.flatMap { connections.peer(of: $0) })
            else {
                refuseSubscription(id, bytes)
                continue
            }
            follow(topic, begins: begins, by: principal, id, inbox: inbox, stream: stream)
        } while SystemClock.monotonic < ends
    }

    /// Ends a connection for its subscription. The end of a subscription is ignored, because it may come from the end
    /// of the connection.
    private mutating func refuseSubscription(_ id: ConnectionTable.ID?, _ bytes: [UInt8]) {
        guard bytes.first != 0 else { return }
        refusedSubscriptions += 1
        log.once(
            .subscriptionRefused, "ended a connection that subscribed to what is not for it (\(bytes.count) bytes)")
        if let id { connections.end(id) }
    }

    private mutating func follow(
        _ topic: Topic, begins: Bool, by principal: Principal, _ id: ConnectionTable.ID?,
        inbox: (PeerID) -> Void, stream: (UpdateStream) -> Void
    ) {
        switch topic {
        case .updates(loop, let updates):
            let isKnown = subscriptions.streams.contains(updates)
            if !begins { subscriptions.streams.removeAll { $0 == updates } }
            guard begins, !isKnown, subscriptions.streams.count < Self.streamsMax else { return }
            subscriptions.streams.append(updates)
            stream(updates)
        case .inbox(loop, let peer):
            guard begins else { return }
            if let id { connections.listens(id, to: peer) }
            if isGuarded, case .key(let key) = principal, let id {
                unownedInboxes.note(peer, key, descriptor: id.descriptor)
            }
            inbox(peer)
        case .transitions(loop): subscriptions.hasTransitions = begins
        // These topics are of another loop, or ticks, whose listeners do not matter.
        case .updates, .inbox, .transitions, .tick: break
        }
    }

    /// Reads batches, up to the limits of a turn, and for a limited time.
    /// - Returns: whether more may have arrived.
    mutating func drainBatches(for duration: Duration, _ body: (Batch, Principal) -> Void) throws -> Bool {
        guard polls.isReadable(items.collector) else {
            connections.drain(.collector)
            return false
        }
        var messages = 0
        var bytes = 0
        let ends = SystemClock.monotonic + duration
        while messages < Self.messagesPerTurn, bytes < Self.bytesPerTurn, messages == 0 || SystemClock.monotonic < ends
        {
            guard try collector.receive(into: &message) else {
                connections.drain(.collector)
                return false
            }
            messages += 1
            bytes += message.count
            let (principal, _) = principal(.collector)
            do {
                let batch = try Batch(bytes: message.copy())
                guard batch.loop == loop else {
                    malformedBytes += 1
                    continue
                }
                body(batch, principal)
            } catch {
                malformedBytes += 1
                log.malformed("a peer's batches", error)
            }
        }
        return true
    }

    mutating func publish(_ frame: PeerFrame, on topic: Topic) throws {
        _ = try publisher.send(frame.bytes(topic: topic))
    }

    mutating func publish(_ frame: PeerFrame, toInboxOf peer: PeerID) throws {
        try publish(frame, on: .inbox(loop, peer))
    }

    /// Sends an answer. The peer that asked need not be connected any more.
    mutating func reply(_ frame: PeerFrame, to id: [UInt8]) throws {
        if let desk, desk.desk.take(frame, for: id) { return }
        let frame = isGuarded ? doors.addressed(frame, to: id) : frame
        let bytes = frame.bytes(topic: nil)
        if connections.allowsAnswer(to: id, byteCount: bytes.count) { _ = try router.send(bytes, to: RoutingID(id)) }
    }
}

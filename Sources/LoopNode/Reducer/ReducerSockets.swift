import CBOR
import LoopCluster
import LoopCore
import LoopWire
import ZMQ

/// The sockets of a reducer: ROUTER for control, XPUB for what it says, PULL for what peers push. One thread's own.
///
/// They outlive a machine: a reducer that starts again from its journal keeps its addresses and its connections.
struct ReducerSockets: ~Copyable {
    /// The address of the bound ROUTER: with its port if any free one was asked for.
    let bound: ReducerAddress
    /// What peers are told of the other two sockets.
    let publisherAddress: String
    let collectorAddress: String
    private let context: ZMQContext
    private let loop: LoopID
    private let log: NodeLog
    private var router: Socket
    private var publisher: Socket
    private var collector: Socket
    private var polls: PollSet
    private let items: (router: PollSet.Item, publisher: PollSet.Item, collector: PollSet.Item)
    private var message = Message()
    private var sender = RoutingID()
    private var malformedSeen: UInt64 = 0
    private var malformedBytes: UInt64 = 0
    /// The listeners besides the workers.
    private(set) var subscriptions = Subscriptions()
    private let fingerprint: UInt64

    /// How much one turn takes from the collector, so that control is never far away.
    private static var messagesPerTurn: Int { 1024 }
    private static var bytesPerTurn: Int { 8 << 20 }
    /// How many streams of updates are known, served or not.
    private static var streamsMax: Int { 1024 }

    /// - Parameter fingerprint: of the definition, for those who follow the events.
    init(bind: BindAddress, loop: LoopID, fingerprint: UInt64, context: ZMQContext, log: NodeLog) throws {
        var router = try bind.socket(.router, in: context)
        var publisher = try bind.socket(.publisher, in: context)
        var collector = try bind.socket(.collector, in: context)
        let bound = try ReducerAddress(parsing: router.bind(bind.router))
        let boundPublisher = try Endpoint(parsing: publisher.bind(bind.publisher))
        let boundCollector = try Endpoint(parsing: collector.bind(bind.collector))
        var polls = PollSet()
        items = (polls.add(router), polls.add(publisher), polls.add(collector))
        self.bound = bound
        publisherAddress = boundPublisher.advertised
        collectorAddress = boundCollector.advertised
        self.context = context
        self.loop = loop
        self.fingerprint = fingerprint
        self.log = log
        self.router = router
        self.publisher = publisher
        self.collector = collector
        self.polls = polls
    }

    @discardableResult
    mutating func watch(descriptor: Int32) -> PollSet.Item { polls.add(descriptor: descriptor) }

    mutating func unwatch(_ item: PollSet.Item) { polls.remove(item) }

    mutating func wait(milliseconds: Int) throws { try polls.wait(milliseconds: milliseconds) }

    /// Whether the last wait found something to read.
    func isReadable(_ item: PollSet.Item) -> Bool { polls.isReadable(item) }

    /// Frames that no machine has seen, since the last call.
    mutating func takeMalformedCount() -> UInt64 {
        // Messages of several frames are counted by the sockets.
        let total = router.malformedMessages + collector.malformedMessages + malformedBytes
        defer { malformedSeen = total }
        return total - malformedSeen
    }

    /// Control is drained whole before anybody's lease is judged.
    mutating func drainControl(_ body: (ToReducer?, Route, _ foreignVersion: UInt8?) throws -> Void) throws {
        guard polls.isReadable(items.router) else { return }
        var count = 0
        while count < 16_384, try router.receive(from: &sender, into: &message) {
            count += 1
            let bytes = message.copy()
            if let version = Wire.foreignVersion(of: bytes[...]) {
                try body(nil, .router(sender.bytes), version)
                continue
            }
            do {
                let request = try ToReducer(bytes: bytes[...], loop: loop)
                try body(request, .router(sender.bytes), nil)
            } catch let error as WireError {
                malformedBytes += 1
                log.malformed("a peer's control connection", error)
            }
        }
    }

    /// The publisher hears who subscribes: a byte 1 for the first to a topic or 0 for the last, and the topic.
    /// - Parameters:
    ///   - inbox: told the peers whose inboxes are listened to from now on.
    ///   - stream: told the streams of updates that somebody follows from now on.
    mutating func drainSubscriptions(inbox: (PeerID) -> Void = { _ in }, stream: (UpdateStream) -> Void = { _ in })
        throws
    {
        guard polls.isReadable(items.publisher) else { return }
        while try publisher.receive(into: &message) {
            let bytes = message.copy()
            guard let first = bytes.first, let topic = try? Topic(bytes: bytes[1...]) else { continue }
            let begins = first == 1
            switch topic {
            case .updates(loop, let updates):
                subscriptions.streams.removeAll { $0 == updates }
                guard begins, subscriptions.streams.count < Self.streamsMax else { continue }
                subscriptions.streams.append(updates)
                stream(updates)
            case .inbox(loop, let peer): if begins { inbox(peer) }
            case .events(loop, fingerprint): subscriptions.hasEvents = begins
            case .transitions(loop): subscriptions.hasTransitions = begins
            // The others are of another loop or definition, and nothing depends on who hears a tick.
            case .updates, .inbox, .events, .transitions, .tick: break
            }
        }
    }

    /// Batches, up to what one turn takes, and for so long.
    /// - Returns: whether some may be left that have arrived.
    mutating func drainBatches(for duration: Duration, _ body: (Batch) -> Void) throws -> Bool {
        guard polls.isReadable(items.collector) else { return false }
        var messages = 0
        var bytes = 0
        let ends = SystemClock.monotonic + duration
        while messages < Self.messagesPerTurn, bytes < Self.bytesPerTurn, messages == 0 || SystemClock.monotonic < ends
        {
            guard try collector.receive(into: &message) else { return false }
            messages += 1
            bytes += message.count
            do {
                let batch = try Batch(bytes: message.copy())
                guard batch.loop == loop else {
                    malformedBytes += 1
                    continue
                }
                body(batch)
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

    /// - Returns: whether the peer could be reached.
    mutating func reply(_ frame: PeerFrame, to id: [UInt8]) throws -> Bool {
        try router.send(frame.bytes(topic: nil), to: RoutingID(id)) == .sent
    }
}

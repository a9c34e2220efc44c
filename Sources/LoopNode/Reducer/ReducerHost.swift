import CBOR
import LoopCluster
import LoopCore
import LoopKeys
import LoopWire
import ZMQ

/// What a reducer's thread has in each of its roles: its sockets, keys, log and configuration. One thread uses it.
final class ReducerHost<Definition: LoopDefinition> {
    let definition: Definition
    let configuration: ReducerNodeConfiguration
    let mailbox: Mailbox<ReducerMail>
    /// Whether the node was stopped. The mailbox says so too, but is read only between turns.
    let isStopping: @Sendable () -> Bool
    let log: NodeLog
    let obstacle: JournalObstacle
    /// The keys, or nil if the reducer has none.
    let ring: KeyRing?
    var sockets: ReducerSockets
    /// Looks into the folder of keys four times a second.
    private let keyWatch: WatchThread?
    /// Counts for the metrics, or nil if the node has none.
    let meter: ReducerMeter?
    /// Looks at what the reducer's thread does, or nil if there are no metrics.
    let stepWatch: StepWatch?
    private let stepThread: WatchThread?
    /// Answers requests about its health until the host is released.
    private let health: HealthServer?
    /// Tells the service manager how it is until the host is released.
    private let notice: ServiceNotice?
    /// The peers whose inboxes have got a listener while the reducer did not serve.
    private var earlyListeners: Set<PeerID> = []
    /// Knows which reducers of the loop lead, or nil if no other reducers are known.
    let lookout: Lookout?

    /// Opens the sockets, and begins to watch the keys and the other reducers.
    init(
        _ definition: Definition, _ configuration: ReducerNodeConfiguration, mailbox: Mailbox<ReducerMail>,
        log: NodeLog, obstacle: JournalObstacle, isStopping: @escaping @Sendable () -> Bool
    ) throws {
        self.definition = definition
        self.configuration = configuration
        self.mailbox = mailbox
        self.isStopping = isStopping
        self.log = log
        self.obstacle = obstacle
        ring = try configuration.keys.map { folder throws(NodeError) in try KeyRing(folder) }
        let isWatched = configuration.health != nil || configuration.serviceManager != nil
        let desk = isWatched ? try StatusDesk() : nil
        sockets = try Self.listen(configuration, ring, desk, log)
        keyWatch = try ring.map { ring throws(NodeError) in
            try WatchThread("loop-keys") { goesOnAfter in
                while goesOnAfter(.milliseconds(250)) {
                    if let change = ring.refresh() { mailbox.post(.keysChanged(change)) }
                }
            }
        }
        lookout = try Self.lookout(configuration, bound: sockets.bound, ring, log)
        guard let desk else {
            (meter, health, notice, stepWatch, stepThread) = (nil, nil, nil, nil, nil)
            return
        }
        let (meter, steps) = (ReducerMeter(), StepWatch())
        let source = ReducerHealth(
            desk, meter, steps, queries: definition.allFeedbacks.filter { $0.makeQuery != nil }.map(\.name),
            loop: Definition.name, journal: configuration.journal.name(Definition.name),
            tracer: configuration.tracer)
        self.meter = meter
        stepWatch = steps
        stepThread = try steps.start()
        health = try configuration.health.map { endpoint throws(NodeError) in try HealthServer(endpoint, source, log) }
        notice = try configuration.serviceManager.map { manager throws(NodeError) in
            try ServiceNotice(manager, source, log)
        }
    }

    private static func listen(
        _ configuration: ReducerNodeConfiguration, _ ring: KeyRing?, _ desk: StatusDesk?, _ log: NodeLog
    ) throws -> ReducerSockets {
        var sockets = try ReducerSockets(
            bind: configuration.bind, servers: ring?.servers ?? [], limits: configuration.connectionLimits,
            loop: LoopID(name: Definition.name), context: try context(configuration, ring), desk: desk, log: log)
        if let ring {
            try sockets.open(ring.servers)
            for note in ring.notes { log.note(.keysChanged, note) }
        } else if !sockets.bound.endpoint.isLocal {
            log.note(
                .insecure, "\(sockets.bound) can be reached from other machines, and there are no keys (--insecure)",
                [.address("\(sockets.bound)")])
        }
        return sockets
    }

    /// The I/O threads of a reducer with keys. A handshake takes one of them some 2 ms, and the frames of its other connections
    /// wait meanwhile. With two threads, a flood of handshakes delays fewer connections, and those for half as long.
    private static var guardedThreads: Int { 2 }

    /// Chooses the context. A reducer with keys has its own, which decides about each connection.
    private static func context(
        _ configuration: ReducerNodeConfiguration, _ ring: KeyRing?
    ) throws(ZMQError) -> ZMQContext {
        guard let ring else {
            if let context = configuration.context { return context }
            return try ZMQContext()
        }
        return try ZMQContext(ioThreads: guardedThreads, authenticator: { ring.verdict(on: $0) })
    }

    /// Makes the lookout that asks the other reducers of the loop, or returns nil if there are none.
    private static func lookout(
        _ configuration: ReducerNodeConfiguration, bound: ReducerAddress, _ ring: KeyRing?, _ log: NodeLog
    ) throws -> Lookout? {
        guard let reducers = configuration.reducers, reducers.endpoints.count > 1 else { return nil }
        guard ring == nil || reducers.keys != nil else {
            throw NodeError.keys(
                "--reducer with --keys needs --key and --reducer-key, by which the other reducers are asked")
        }
        return try Lookout(
            reducers, loop: Definition.name, own: configuration.address(bound: bound), context: configuration.context,
            log)
    }

    /// The address that it advertises, or nil if that is not known.
    var address: String? { configuration.address(bound: sockets.bound) }

    /// Describes how to open the journal.
    /// - Parameters:
    ///   - waits: whether the opening waits for another process that has the journal.
    ///   - log: receives what a person should know of the journal.
    func opening(waits: Bool, _ log: NodeLog) -> JournalPlace.Opening {
        configuration.opening(of: Definition.name, waits: waits, address: address, log, isStopping)
    }

    /// A report with what is always known.
    var report: StatusReport { StatusReport(loop: Definition.name, schema: UInt64(Definition.schema)) }

    /// Answers peers while this reducer does not serve, and notes who listens.
    /// - Parameters:
    ///   - epoch: the epoch of the leader to which peers are sent.
    ///   - report: makes the status.
    ///   - order: answers a request of an operator who may say which reducer leads, or returns nil if it is another request.
    func answer(
        _ unready: Unready, epoch: Epoch = .none, report: () -> StatusReport,
        order: (_ number: UInt64, _ document: ArraySlice<UInt8>) throws -> ToPeer? = { _, _ in nil }
    ) throws {
        let allowed = ring?.allowed
        var answers: [(route: [UInt8], messages: [ToPeer])] = []
        try sockets.drainControl(for: .milliseconds(5)) { request, route, principal, foreignVersion in
            guard case .router(let id) = route, principal.may(.readStatus, allowed) else { return }
            if let foreignVersion { answers.append((id, [.refused(protocolVersion: foreignVersion)])) }
            switch request {
            case nil: break
            case .statusRequest: answers.append((id, [.status(try CBOR.encode(report()))]))
            case .administration(let number, let document) where principal.may(.stepDown, allowed):
                let messages = try order(number, document).map { [$0] }
                answers.append((id, try messages ?? unready.answers(to: .administration(request: number, document))))
            case let request?: answers.append((id, try unready.answers(to: request)))
            }
        }
        for (id, messages) in answers {
            for message in messages {
                let isRedirect = if case .redirect = message { true } else { false }
                let frame = PeerFrame(
                    history: .none, epoch: isRedirect ? epoch : .none, session: .none, message: message)
                try sockets.reply(frame, to: id)
            }
        }
        var heard = earlyListeners
        try sockets.drainSubscriptions(
            for: .milliseconds(5), mayFollow: { topic, principal, _ in principal.may(topic.verb, allowed) },
            // A peer beyond this limit learns by itself that it has to join.
            inbox: { peer in if heard.count < 16_384 { heard.insert(peer) } },
            // The first turn publishes the state to all streams.
            stream: { _ in })
        earlyListeners = heard
    }

    /// The peers that have begun to listen while it did not serve. They are returned once.
    func takeEarlyListeners() -> Set<PeerID> {
        defer { earlyListeners = [] }
        return earlyListeners
    }

    /// Answers peers while the state is rebuilt, ten times a second.
    /// - Returns: a closure to call before each record, which returns whether to stop.
    func whileRecovering(_ journal: any Journal) -> () -> Bool {
        let began = SystemClock.monotonic
        var (count, total, answersAt) = (UInt64(0), UInt64?.none, began + .milliseconds(100))
        var firstAt: MonotonicTime?
        return { [self] in
            count += 1
            let now = SystemClock.monotonic
            // What comes before the first record does not grow with their number.
            let replayBegan = firstAt ?? now
            firstAt = replayBegan
            guard now >= answersAt else { return isStopping() }
            answersAt = now + .milliseconds(100)
            let all = total ?? journal.position - min(journal.position, (try? journal.snapshots().first?.position) ?? 0)
            total = all
            meter?.note { [count] in
                $0.recovery = (count, all)
                if now - replayBegan >= .milliseconds(100) { $0.replayPerRecord = (now - replayBegan) / Int(count - 1) }
            }
            let error = JournalError(
                .unreachable, operation: "be used yet",
                reason: "the state is being rebuilt from it: \(count) of about \(all) records are applied",
                remedy: "wait", fault: JournalFault(.recovering))
            // If a socket fails, the first turn gets the error again.
            try? sockets.wait(milliseconds: 0)
            try? answer(
                Unready(loop: Definition.name, .stay(because: "\(error)")),
                report: { self.report.unready(because: error, since: began) })
            return isStopping()
        }
    }
}

extension ToPeer {
    /// The answer to a peer of another version of the protocol.
    static func refused(protocolVersion version: UInt8) -> ToPeer {
        .refused(Refused(.protocolVersion, reducer: "\(Wire.version)", peer: "\(version)"), to: .none)
    }
}

extension ReducerNodeConfiguration {
    /// Describes how to open the journal of a loop.
    /// - Parameter address: the address that the reducer advertises, or nil if that is not known.
    func opening(
        of loop: String, waits: Bool, address: String?, _ log: NodeLog, _ isStopping: @escaping @Sendable () -> Bool
    ) -> JournalPlace.Opening {
        var opening = JournalPlace.Opening(
            loop: loop, durability: durability, waits: waits, address: address, isStopping: isStopping,
            note: { log.note(.journal, $0) })
        opening.lease = journalLease
        opening.deadline = journalDeadline
        return opening
    }
}

extension Principal {
    /// Whether it may do something.
    /// - Parameter keys: the admitted keys, or nil if the reducer has none, and everyone may do everything.
    func may(_ verb: Verb, _ keys: AllowedKeys?) -> Bool {
        guard let keys else { return true }
        if self == .local { return true }
        guard case .key(let key) = self else { return false }
        return keys[key]?.allows(verb) ?? false
    }
}

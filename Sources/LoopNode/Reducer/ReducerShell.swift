import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import ZMQ

/// The sockets of a reducer and the thread that owns them. One turn at a time: wait, drain, advance, persist, send.
struct ReducerShell<Definition: LoopDefinition>: ~Copyable {
    private let configuration: ReducerNodeConfiguration
    private let context: ZMQContext
    private let mailbox: Mailbox<ReducerMail>
    private let log: NodeLog
    private let loop: LoopID
    private var machine: ReducerMachine<Definition>
    private var journal: any Journal
    private var local: LocalPeer?

    private var router: Socket
    private var publisher: Socket
    private var collector: Socket
    private var polls: PollSet
    private var message = Message()
    private var sender = RoutingID()
    private var mail: [ReducerMail] = []
    private var malformedSeen: UInt64 = 0

    /// How much one turn takes from the collector, so that control is never far away.
    private static var messagesPerTurn: Int { 1024 }
    private static var bytesPerTurn: Int { 8 << 20 }

    init(
        _ definition: Definition, configuration: ReducerNodeConfiguration, mailbox: Mailbox<ReducerMail>
    ) throws {
        let log = NodeLog(name: "reducer \(Definition.name)", write: configuration.log)
        let context = try configuration.context ?? ZMQContext()
        let endpoints = try ReducerEndpoints(bind: configuration.bind)
        var router = try Socket(.router, in: context, options: .reducer)
        var publisher = try Socket(.xpub, in: context, options: .reducer)
        var collector = try Socket(.pull, in: context, options: .reducer)
        let bound = try router.bind(endpoints.router)
        let boundPublisher = try publisher.bind(endpoints.publisher)
        let boundCollector = try collector.bind(endpoints.collector)
        var polls = PollSet()
        polls.add(router)
        polls.add(publisher)
        polls.add(collector)
        polls.add(descriptor: mailbox.descriptor)

        let now = SystemClock.now
        var machine = ReducerMachine(
            definition: definition,
            configuration: ReducerConfiguration(
                silenceLimit: configuration.silenceLimit,
                publisher: ReducerEndpoints.advertised(boundPublisher),
                collector: ReducerEndpoints.advertised(boundCollector)),
            coder: CBORCoder(), history: History(SystemRandom.uint64()), seed: SystemRandom.uint64(), at: now)
        machine.begin(nonce: SystemRandom.uint64(), at: now)
        var local: LocalPeer?
        if definition.feedbacks.contains(where: { $0.placement == .local && $0.makeQuery != nil }) {
            let peer = try LocalPeer(
                definition, capacity: configuration.localCapacity, fingerprint: machine.fingerprintValue,
                at: now.monotonic)
            polls.add(descriptor: peer.descriptor)
            local = peer
        }
        if !ReducerEndpoints.isLocal(bound) {
            log.note("\(bound) can be reached from other machines, and there are no keys (--insecure)")
        }
        log.note("listening at \(bound), history \(machine.history), epoch \(machine.epoch)")
        self.configuration = configuration
        self.context = context
        self.mailbox = mailbox
        self.log = log
        loop = LoopID(name: Definition.name)
        self.machine = machine
        journal = MemoryJournal(history: machine.history)
        self.local = local
        self.router = router
        self.publisher = publisher
        self.collector = collector
        self.polls = polls
        configuration.onListening(bound)
    }

    mutating func run() throws -> Outcome? {
        var deadline = MonotonicTime.zero
        var endsAt: MonotonicTime?
        while true {
            let isBusy = local?.hasWork ?? false
            try polls.wait(
                milliseconds: isBusy ? 0 : SystemClock.milliseconds(from: SystemClock.monotonic, until: deadline))
            // A verdict that was reached is told, also when the farewell is cut short.
            if isToldToStop() { return machine.end }
            let outcome = try turn(&deadline)
            guard let outcome else { continue }
            let now = SystemClock.monotonic
            let ends = endsAt ?? now + configuration.farewell
            endsAt = ends
            if now >= ends || machine.memberCount(besides: local?.peer) == 0 { return outcome }
            deadline = min(deadline, ends)
        }
    }

    /// - Returns: the loop's outcome, once it has one.
    private mutating func turn(_ deadline: inout MonotonicTime) throws -> Outcome? {
        try drainRouter()
        try drainSubscriptions()
        try drainCollector()
        countMalformed()
        let now = SystemClock.now
        if var local {
            local.turn(&machine, at: now)
            self.local = local
        }
        machine.advance(to: now)
        let ready = machine.ready()
        deadline = ready.deadline
        let outcome = ready.outcome
        let receipt: JournalReceipt
        do {
            receipt = try journal.append(ready.records, through: ready.position)
        } catch {
            throw NodeError.journal("\(error)")
        }
        for outbound in ready.release(receipt) { try send(outbound, at: now.monotonic) }
        return outcome
    }

    private mutating func isToldToStop() -> Bool {
        mailbox.takeAll(into: &mail)
        defer { mail.removeAll() }
        return !mail.isEmpty
    }

    /// Control is drained whole before anybody's lease is judged.
    private mutating func drainRouter() throws {
        let now = SystemClock.now
        var count = 0
        while count < 16_384, try router.receive(from: &sender, into: &message) {
            count += 1
            let bytes = message.copy()
            if let version = Wire.foreignVersion(of: bytes[...]) {
                machine.refuse(protocolVersion: version, .router(sender.bytes))
                continue
            }
            do {
                let request = try ToReducer(bytes: bytes[...], loop: loop)
                machine.receive(request, from: .router(sender.bytes), at: now)
            } catch {
                machine.count(.malformedFrame)
                log.malformed("a peer's control connection", error)
            }
        }
    }

    /// The publisher hears who subscribes: a byte 1 or 0 and the topic.
    private mutating func drainSubscriptions() throws {
        while try publisher.receive(into: &message) {
            let bytes = message.copy()
            guard let first = bytes.first, let topic = try? Topic(bytes: bytes[1...]) else { continue }
            let change = first == 1 ? 1 : -1
            switch topic {
            case .updates(loop):
                machine.subscriptions.updates = max(0, machine.subscriptions.updates + change)
                if change > 0 { machine.publishStateAgain() }
            case .transitions(loop):
                machine.subscriptions.transitions = max(0, machine.subscriptions.transitions + change)
            default: break
            }
        }
    }

    private mutating func drainCollector() throws {
        let now = SystemClock.now
        var messages = 0
        var bytes = 0
        while messages < Self.messagesPerTurn, bytes < Self.bytesPerTurn, try collector.receive(into: &message) {
            messages += 1
            bytes += message.count
            do {
                let batch = try Batch(bytes: message.copy()[...])
                guard batch.loop == loop else {
                    machine.count(.malformedFrame)
                    continue
                }
                machine.receive(batch, at: now)
            } catch {
                machine.count(.malformedFrame)
                log.malformed("a peer's batches", error)
            }
        }
    }

    /// Messages of several frames never reach a machine; the sockets count them.
    private mutating func countMalformed() {
        let total = router.malformedMessages + collector.malformedMessages
        if total > malformedSeen { machine.count(.malformedFrame, total - malformedSeen) }
        malformedSeen = total
    }

    private mutating func send(_ outbound: Outbound, at now: MonotonicTime) throws {
        switch outbound {
        // What is for the local peer never touches a socket.
        case .inbox(let peer, let frame) where peer == local?.peer: local?.receivePublished(frame, at: now)
        case .reply(.local, let frame): local?.receiveReply(frame, at: now)
        case .inbox(let peer, let frame):
            _ = try publisher.send(frame.bytes(topic: .inbox(loop, peer)))
        case .publish(let topic, let frame):
            _ = try publisher.send(frame.bytes(topic: topic))
        case .reply(.router(let id), let frame):
            if try router.send(frame.bytes(topic: nil), to: RoutingID(id)) != .sent {
                machine.count(.unreachablePeer)
            }
        }
    }
}

extension SocketOptions {
    /// A reducer's sockets: one slow peer fills its own queue only.
    static var reducer: SocketOptions {
        var options = SocketOptions()
        options.messageBytesMax = Wire.messageBytesMax
        options.sendMessagesMax = 2000
        options.receiveMessagesMax = 4096
        return options
    }
}

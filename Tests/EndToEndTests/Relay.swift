import LoopCollections
import LoopNode
import LoopWire
import TestFolders
import ZMQ

/// Stands between one sender and its reducer, and can keep from the sender what the reducer says.
final class Relay: Sendable {
    private struct State {
        var isDeaf = false
        var goesDeafWithNextBatch = false
    }

    let address = ipcAddress()
    private let state = Locked(State())
    private let mailbox: Mailbox<Void>

    init(to reducer: ReducerAddress) throws {
        let mailbox = try Mailbox<Void>()
        self.mailbox = mailbox
        let (address, state) = (address, state)
        _ = try NodeThread("relay") { try? Self.run(address, reducer, state, until: mailbox) }
    }

    deinit { mailbox.post(()) }

    /// The next batch goes through to the reducer; from then on nothing that the reducer says comes back.
    func losesAnswersToTheNextBatch() { state.withLock { $0.goesDeafWithNextBatch = true } }

    func letsEverythingThrough() {
        state.withLock {
            $0.isDeaf = false
            $0.goesDeafWithNextBatch = false
        }
    }

    private static func run(
        _ address: ReducerAddress, _ reducer: ReducerAddress, _ state: Locked<State>, until mailbox: Mailbox<Void>
    ) throws {
        let context = try ZMQContext()
        let behind = try BindAddress(reducer)
        let before = try BindAddress(address)
        var router = try Socket(.router, in: context)
        var publisher = try Socket(.xpub, in: context)
        var collector = try Socket(.pull, in: context)
        try router.bind(before.router)
        try publisher.bind(before.publisher)
        try collector.bind(before.collector)
        var dealer = try Socket(.dealer, in: context)
        var subscriber = try Socket(.sub, in: context)
        var pusher = try Socket(.push, in: context)
        try dealer.connect(behind.router)
        try subscriber.connect(behind.publisher)
        try pusher.connect(behind.collector)
        var polls = PollSet()
        polls.add(router)
        polls.add(dealer)
        polls.add(subscriber)
        polls.add(publisher)
        polls.add(collector)
        let over = polls.add(descriptor: mailbox.descriptor)
        var message = Message()
        var sender = RoutingID()
        while true {
            try polls.wait(milliseconds: nil)
            if polls.isReadable(over) { return }
            while try router.receive(from: &sender, into: &message) { _ = try dealer.send(message.copy()) }
            while try collector.receive(into: &message) {
                state.withLock { $0.isDeaf = $0.isDeaf || $0.goesDeafWithNextBatch }
                _ = try pusher.send(message.copy())
            }
            let isDeaf = state.withLock { $0.isDeaf }
            while try dealer.receive(into: &message) {
                let answer = try introducing(before, message.copy())
                if !isDeaf { _ = try router.send(answer, to: sender) }
            }
            while try publisher.receive(into: &message) {
                let topic = Array(message.copy().dropFirst())
                // The end of a subscription is not passed on: this publisher drops messages to which no peer subscribes.
                if message.copy().first == 1 { try subscriber.subscribe(topic) }
            }
            while try subscriber.receive(into: &message) {
                if !isDeaf { _ = try publisher.send(message.copy()) }
            }
        }
    }

    /// The relay's own addresses in the place of the reducer's.
    private static func introducing(_ endpoints: BindAddress, _ bytes: [UInt8]) throws -> [UInt8] {
        var frame = try PeerFrame(bytes: bytes[...])
        guard case .introduction(var introduction) = frame.message else { return bytes }
        introduction.publisher = endpoints.publisher
        introduction.collector = endpoints.collector
        frame.message = .introduction(introduction)
        return frame.bytes(topic: nil)
    }
}

import Glibc
import LoopKeys
import TestFolders
import Testing
import ZMQ

@Suite struct `G12 only who may` {
    private let guarded: Guarded

    init() throws { guarded = try Guarded() }

    /// Cases run at the same time, so each has an endpoint of its own.
    @Test(arguments: Pattern.allCases, ["tcp", "ipc"])
    func `an admitted key is heard, and each message says whose it is`(pattern: Pattern, transport: String) throws {
        var server = try guarded.server(pattern.server)
        let endpoint = try server.bind(transport == "ipc" ? ipcEndpoint() : "tcp://127.0.0.1:*")
        let worker = try guarded.admitted(as: "worker")
        let observer = try guarded.admitted(as: "observer")
        var first = try guarded.client(pattern.client, worker)
        try first.connect(endpoint)
        var second = try guarded.client(pattern.client, observer)
        try second.connect(endpoint)
        try say("of a worker", by: &first)
        let heard = try hear(&server)
        #expect(heard.text == "of a worker" && heard.key == worker.publicKey && heard.role == "worker")
        try say("of an observer", by: &second)
        let other = try hear(&server)
        #expect(other.text == "of an observer" && other.key == observer.publicKey && other.role == "observer")
        let address = try #require(heard.address)
        #expect(address == "127.0.0.1" || address.hasPrefix("localhost:\(getuid()):\(getgid()):"))
    }

    @Test func `the answers of a router and what an xpub publishes reach an admitted key`() throws {
        var router = try guarded.server(.router)
        var publisher = try guarded.server(.xpub)
        let keys = try guarded.admitted()
        var dealer = try guarded.client(.dealer, keys)
        try dealer.connect(try router.bind("tcp://127.0.0.1:*"))
        try deliver("question", by: &dealer)
        #expect(try router.send([UInt8]("answer"), to: try nextRouted(&router).peer) == .sent)
        #expect(try next(&dealer) == "answer")
        var subscriber = try guarded.client(.sub, keys)
        try subscriber.connect(try publisher.bind("tcp://127.0.0.1:*"))
        try subscriber.subscribe([UInt8]("a"))
        #expect(try next(&publisher) == "\u{1}a")
        try deliver("a1", by: &publisher)
        #expect(try next(&subscriber) == "a1")
    }

    enum Intruder: CaseIterable {
        case unknownKey, wrongServerKey, noKeys, foreignWithoutKeys, foreignThatSaysItHasKeys
    }

    /// The intruder speaks first, and its handshake has failed when the admitted peer begins to connect.
    @Test(arguments: Pattern.allCases, Intruder.allCases)
    func `others are not heard`(pattern: Pattern, intruder: Intruder) throws {
        var server = try guarded.server(pattern.server)
        var monitor = try SocketMonitor(server)
        let endpoint = try server.bind("tcp://127.0.0.1:*")
        let strangerKeys = try KeyPair()
        let keys = try guarded.admitted()

        var stranger =
            switch intruder {
            case .unknownKey: try guarded.client(pattern.client, strangerKeys)
            case .wrongServerKey: try guarded.client(pattern.client, keys, of: strangerKeys.publicKey)
            default: try Socket(pattern.client, in: guarded.outside)
            }
        switch intruder {
        case .foreignWithoutKeys, .foreignThatSaysItHasKeys:
            let foreign = try ForeignPeer(endpoint)
            let mechanism = intruder == .foreignWithoutKeys ? "NULL" : "CURVE"
            foreign.greet(as: pattern.client.rawValue.uppercased(), mechanism: mechanism)
            foreign.send(["\u{1}of a stranger"])
            foreign.readToEnd()
        default:
            try stranger.connect(endpoint)
            try say("of a stranger", by: &stranger)
        }
        let failure = try nextFailure(&monitor)
        switch (intruder, failure) {
        case (.unknownKey, .notAdmitted(status: 400)), (.wrongServerKey, .protocolError(code: 0x1100_0001)): break
        case (.unknownKey, _), (.wrongServerKey, _), (_, .notAdmitted): Issue.record("failed by \(failure)")
        case (_, .protocolError), (_, .mechanismMismatch), (_, .noDetail): break
        }
        #expect(guarded.admissions.asked.map(\.key) == (intruder == .unknownKey ? [strangerKeys.publicKey] : []))

        var friend = try guarded.client(pattern.client, keys)
        try friend.connect(endpoint)
        try say("of a friend", by: &friend)
        #expect(try hear(&server).text == "of a friend")
        try say("of a friend, again", by: &friend)
        #expect(try hear(&server).text == "of a friend, again")
        #expect(server.malformedMessages == 0)
    }

    @Test(arguments: Pattern.allCases)
    func `a key that was revoked is not heard from its next connection on`(pattern: Pattern) throws {
        var server = try guarded.server(pattern.server)
        var monitor = try SocketMonitor(server)
        let endpoint = try server.bind("tcp://127.0.0.1:*")
        let keys = try guarded.admitted()
        var before = try guarded.client(pattern.client, keys)
        try before.connect(endpoint)
        try say("before", by: &before)
        #expect(try hear(&server).text == "before")
        while try next(&monitor) != .handshakeSucceeded {}

        guarded.admissions.revoke(keys.publicKey)
        // Asked is only at the handshake: the reader of the message has to look at its key.
        try say("still connected", by: &before)
        #expect(try hear(&server).key == keys.publicKey)
        var after = try guarded.client(pattern.client, keys)
        try after.connect(endpoint)
        try say("after", by: &after)
        #expect(try nextFailure(&monitor) == .notAdmitted(status: 400))
        try say("last", by: &before)
        #expect(try hear(&server).text == "last")
    }

    @Test func `a peer that is put off comes again, and is admitted then`() throws {
        let keys = try KeyPair()
        let isLoaded = Flag()
        let context = try ZMQContext(authenticator: { _ in isLoaded.raise() ? .admit() : .later })
        var options = SocketOptions()
        options.security = .server(secretKey: guarded.keys.secretKey, domain: "loop")
        options.handshakeLimit = .milliseconds(50)
        var server = try Socket(.pull, in: context, options: options)
        var monitor = try SocketMonitor(server)
        var client = try guarded.client(.push, keys)
        try client.connect(try server.bind("tcp://127.0.0.1:*"))
        try deliver("patient", by: &client)
        #expect(try nextFailure(&monitor) == .notAdmitted(status: 300))
        #expect(try next(&server) == "patient")
    }

    @Test func `the domain says at which socket a key is admitted`() throws {
        let keys = try KeyPair()
        let context = try ZMQContext(authenticator: { $0.domain == "loop.pub" ? .admit() : .refuse })
        var options = SocketOptions()
        options.security = .server(secretKey: guarded.keys.secretKey, domain: "loop.pub")
        var publisher = try Socket(.xpub, in: context, options: options)
        options.security = .server(secretKey: guarded.keys.secretKey, domain: "loop.pull")
        var collector = try Socket(.pull, in: context, options: options)
        var monitor = try SocketMonitor(collector)
        var push = try guarded.client(.push, keys)
        try push.connect(try collector.bind("tcp://127.0.0.1:*"))
        #expect(try nextFailure(&monitor) == .notAdmitted(status: 400))
        var subscriber = try guarded.client(.sub, keys)
        try subscriber.connect(try publisher.bind("tcp://127.0.0.1:*"))
        try subscriber.subscribe([UInt8]("a"))
        #expect(try hear(&publisher).key == keys.publicKey)
    }

    @Test func `a peer without keys cannot say that it has one`() throws {
        var pull = try Socket(.pull, in: guarded.context)
        let foreign = try ForeignPeer(try pull.bind("tcp://127.0.0.1:*"))
        let forged = [UInt8](guarded.keys.publicKey.description)
        foreign.greet(
            as: "PUSH",
            ["User-Id": forged, "X-Role": [UInt8]("admin"), "Peer-Address": [UInt8]("9.9.9.9"), "__fd": [UInt8]("0")])
        foreign.send(["believe me"])
        var message = Message()
        #expect(try next(&pull, into: &message) == "believe me")
        #expect(message.peerKey == nil && message.property("X-Role") == nil)
        #expect(message.peerAddress == "127.0.0.1")
        #expect((message.peerDescriptor ?? 0) > 2)
    }

    @Test func `a message that was reused says who sent the last one`() throws {
        var server = try guarded.server(.pull)
        var client = try guarded.client(.push, try guarded.admitted())
        try client.connect(try server.bind("tcp://127.0.0.1:*"))
        var plain = try Socket(.pull, in: guarded.context)
        var push = try Socket(.push, in: guarded.context)
        try push.connect(try plain.bind("inproc://plain"))
        var message = Message()
        #expect(message.peerKey == nil && message.peerAddress == nil && message.peerDescriptor == nil)
        try deliver("with a key", by: &client)
        _ = try next(&server, into: &message)
        #expect(message.peerKey != nil)
        try deliver("without", by: &push)
        _ = try next(&plain, into: &message)
        #expect(message.peerKey == nil && message.peerAddress == nil && message.peerDescriptor == nil)
    }

    @Test func `a subscription that ends with its connection has no key`() throws {
        var server = try guarded.server(.xpub)
        let endpoint = try server.bind("tcp://127.0.0.1:*")
        let keys = try guarded.admitted()
        func subscribeAndLeave() throws {
            var subscriber = try guarded.client(.sub, keys)
            try subscriber.connect(endpoint)
            try subscriber.subscribe([UInt8]("a"))
            #expect(try hear(&server).key == keys.publicKey)
        }
        try subscribeAndLeave()
        #expect(try hear(&server) == Heard(text: "a"))
    }
}

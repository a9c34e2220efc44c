import Glibc
import TestFolders
import Testing
import ZMQ

@Suite struct `ZMQ round trips` {
    let context: ZMQContext

    init() throws { context = try ZMQContext() }

    @Test(arguments: ["inproc://round", ipcEndpoint(), "tcp://127.0.0.1:*"])
    func `a message goes from push to pull over every transport`(endpoint: String) throws {
        var pull = try Socket(.pull, in: context)
        var push = try Socket(.push, in: context)
        try push.connect(try pull.bind(endpoint))
        try deliver("first", by: &push)
        try deliver("", by: &push)
        try deliver(String(repeating: "x", count: 100_000), by: &push)
        #expect(try next(&pull) == "first")
        #expect(try next(&pull) == "")
        #expect(try next(&pull).utf8.count == 100_000)
    }

    @Test func `a wildcard bind tells the port that was free`() throws {
        var first = try Socket(.pull, in: context)
        var second = try Socket(.pull, in: context)
        let endpoints = [try first.bind("tcp://127.0.0.1:*"), try second.bind("tcp://127.0.0.1:0")]
        let ports = endpoints.compactMap { Int($0.split(separator: ":").last ?? "") }
        #expect(endpoints.allSatisfy { $0.hasPrefix("tcp://127.0.0.1:") })
        #expect(ports.count == 2 && ports.allSatisfy { $0 > 0 } && ports[0] != ports[1])
    }

    @Test func `a router answers the dealer that asked`() throws {
        var router = try Socket(.router, in: context)
        let endpoint = try router.bind("tcp://127.0.0.1:*")
        var one = try Socket(.dealer, in: context)
        var two = try Socket(.dealer, in: context)
        try one.connect(endpoint)
        try two.connect(endpoint)
        try deliver("one", by: &one)
        try deliver("two", by: &two)
        for _ in 0..<2 {
            let question = try nextRouted(&router)
            #expect(try router.send([UInt8]("answer \(question.text)"), to: question.peer) == .sent)
        }
        #expect(try next(&one) == "answer one")
        #expect(try next(&two) == "answer two")
    }

    @Test func `a subscriber gets what its prefixes match, once the publisher has seen them`() throws {
        var publisher = try Socket(.xpub, in: context)
        var subscriber = try Socket(.sub, in: context)
        try subscriber.connect(try publisher.bind("tcp://127.0.0.1:*"))
        try subscriber.subscribe([UInt8]("a"))
        try subscriber.subscribe([UInt8]("b"))
        #expect(try next(&publisher) == "\u{1}a")
        #expect(try next(&publisher) == "\u{1}b")
        for text in ["a1", "c1", "b1"] { try deliver(text, by: &publisher) }
        #expect(try next(&subscriber) == "a1")
        #expect(try next(&subscriber) == "b1")
    }

    @Test func `a pair talks both ways`() throws {
        var left = try Socket(.pair, in: context)
        var right = try Socket(.pair, in: context)
        try right.connect(try left.bind("inproc://pair"))
        try deliver("to the right", by: &left)
        try deliver("to the left", by: &right)
        #expect(try next(&right) == "to the right")
        #expect(try next(&left) == "to the left")
    }

    @Test func `a dealer may dial before the router is there`() throws {
        let endpoint = ipcEndpoint()
        var dealer = try Socket(.dealer, in: context)
        try dealer.connect(endpoint)
        try deliver("early", by: &dealer)
        var router = try Socket(.router, in: context)
        try router.bind(endpoint)
        #expect(try nextRouted(&router).text == "early")
    }

    @Test func `one message object receives many messages`() throws {
        var pull = try Socket(.pull, in: context)
        var push = try Socket(.push, in: context)
        try push.connect(try pull.bind("inproc://many"))
        var message = Message()
        var set = PollSet()
        set.add(pull)
        for length in [0, 1, 33, 34, 5000, 2] {
            let sent = [UInt8](repeating: UInt8(length & 0xFF), count: length)
            #expect(try push.send(sent) == .sent)
            try #require(try set.wait(milliseconds: patienceMilliseconds) == 1)
            #expect(try pull.receive(into: &message))
            #expect(message.count == length)
            #expect(message.copy() == sent)
        }
        #expect(try !pull.receive(into: &message))
    }
}

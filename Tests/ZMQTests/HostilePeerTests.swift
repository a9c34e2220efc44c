import Testing
import ZMQ

@Suite struct `G11 hostile peers of a socket` {
    let context: ZMQContext

    init() throws { context = try ZMQContext() }

    @Test func `messages of several frames are dropped and counted, the others arrive`() throws {
        var pull = try Socket(.pull, in: context)
        let foreign = try ForeignPeer(try pull.bind("tcp://127.0.0.1:*"))
        foreign.greet(as: "PUSH")
        for index in 0..<200 { foreign.send(["garbage \(index)", "and", "more"]) }
        foreign.send(["good"])
        foreign.send(["bad", ""])
        foreign.send(["good again"])
        #expect(try next(&pull) == "good")
        #expect(try next(&pull) == "good again")
        #expect(pull.malformedMessages == 201)
    }

    @Test func `a router drops what is not sender and body`() throws {
        var router = try Socket(.router, in: context)
        let foreign = try ForeignPeer(try router.bind("tcp://127.0.0.1:*"))
        foreign.greet(as: "DEALER")
        foreign.send(["", "delimited like a REQ"])
        foreign.send(["single"])
        #expect(try nextRouted(&router).text == "single")
        #expect(router.malformedMessages == 1)
    }

    @Test func `an oversized message disconnects its sender and no other peer`() throws {
        var options = SocketOptions()
        options.messageBytesMax = 1000
        var pull = try Socket(.pull, in: context, options: options)
        let endpoint = try pull.bind("tcp://127.0.0.1:*")
        var push = try Socket(.push, in: context)
        try push.connect(endpoint)
        try deliver("before", by: &push)
        #expect(try next(&pull) == "before")

        let foreign = try ForeignPeer(endpoint)
        foreign.greet(as: "PUSH")
        // A frame that announces 2^62 bytes: nothing may be allocated for it.
        foreign.write([2, 0x40, 0, 0, 0, 0, 0, 0, 0])
        foreign.readToEnd()

        try deliver(String(repeating: "x", count: 1000), by: &push)
        #expect(try next(&pull).utf8.count == 1000)
    }

    @Test func `a sender that was disconnected for an oversized message comes back`() throws {
        var options = SocketOptions()
        options.messageBytesMax = 1000
        var pull = try Socket(.pull, in: context, options: options)
        var push = try Socket(.push, in: context)
        try push.connect(try pull.bind("tcp://127.0.0.1:*"))
        try deliver(String(repeating: "x", count: 1001), by: &push)
        // What was queued when the connection went is lost, so it is said until it is heard.
        var set = PollSet()
        set.add(pull)
        var attempts = 0
        repeat {
            try deliver("small", by: &push)
            attempts += 1
        } while try set.wait(milliseconds: 50) == 0 && attempts < 200
        #expect(try next(&pull) == "small")
    }

    @Test func `a foreign protocol and random bytes leave the socket working`() throws {
        var pull = try Socket(.pull, in: context)
        let endpoint = try pull.bind("tcp://127.0.0.1:*")
        let http = try ForeignPeer(endpoint)
        http.write([UInt8]("GET / HTTP/1.1\r\nHost: loop\r\n\r\n" + String(repeating: "x", count: 200)))
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20 {
            let noise = try ForeignPeer(endpoint)
            noise.write((0..<300).map { _ in UInt8.random(in: 0...255, using: &generator) })
        }
        let wrongKind = try ForeignPeer(endpoint)
        wrongKind.greet(as: "SUB")
        wrongKind.send(["not a sender"])
        var push = try Socket(.push, in: context)
        try push.connect(endpoint)
        try deliver("good", by: &push)
        // A peer that does not begin with a version is heard as ZMTP 1.0: its noise may arrive as messages.
        while try next(&pull) != "good" {}
    }
}

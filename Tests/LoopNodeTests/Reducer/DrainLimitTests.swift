import LoopCore
import Testing
import ZMQ

@testable import LoopNode

@Suite struct `The share of a turn that one connection has` {
    private let end = MonotonicTime.zero + .milliseconds(5)

    @Test func `is what it says, as long as there is time`() {
        var limit = DrainLimit(ends: end)
        for _ in 0..<1000 { limit.hear([1], at: .zero + .milliseconds(4)) }
        #expect(limit.allowsMore)
    }

    @Test func `is one message when the time is up, and the turn ends when one is heard again`() {
        var limit = DrainLimit(ends: end)
        for connection in 0..<100 { limit.hear([UInt8(connection)], at: end) }
        #expect(limit.allowsMore)
        limit.hear([7], at: end)
        #expect(!limit.allowsMore)
    }

    /// What the limit relies on: a router reads one message of each connection after the other.
    @Test func `is read from a router before a flood of another connection`() throws {
        let context = try ZMQContext()
        var router = try Socket(.router, in: context)
        var flood = try Socket(.dealer, in: context)
        var other = try Socket(.dealer, in: context)
        try router.bind("inproc://fair")
        try flood.connect("inproc://fair")
        try other.connect("inproc://fair")
        for _ in 0..<500 { #expect(try flood.send([1]) == .sent) }
        #expect(try other.send([2]) == .sent)
        var polls = PollSet()
        _ = polls.add(router)
        try polls.wait(milliseconds: 1000)
        var sender = RoutingID()
        var message = Message()
        var limit = DrainLimit(ends: .zero)
        var heard: [[UInt8]] = []
        while limit.allowsMore, try router.receive(from: &sender, into: &message) {
            limit.hear(sender.bytes, at: .zero)
            heard.append(message.copy())
        }
        #expect(heard.contains([2]))
        #expect(heard.count <= 4)
    }
}

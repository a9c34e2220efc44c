import Testing
import ZMQ

@Suite struct `G11 the numbers that a router gives to its peers` {
    /// What the first router of a process would begin with if `rand()` had no seed.
    private static let unseeded: UInt32 = 0x6B8B_4567

    private static func routingID(_ number: UInt32) -> [UInt8] {
        [0] + (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    @Test func `are not known to a peer, which could end the process by taking the next one`() async {
        await #expect(processExitsWith: .success) {
            let context = try ZMQContext()
            var router = try Socket(.router, in: context)
            let endpoint = try router.bind("tcp://127.0.0.1:*")
            var foreigners: [ForeignPeer] = []
            for next in Self.unseeded..<Self.unseeded + 8 {
                let foreign = try ForeignPeer(endpoint)
                foreign.greet(as: "DEALER", ["Identity": Self.routingID(next)])
                foreign.send(["mine"])
                try #require(try nextRouted(&router).peer.bytes == Self.routingID(next))
                foreigners.append(foreign)
            }
            for _ in 0..<4 {
                var dealer = try Socket(.dealer, in: context)
                try dealer.connect(endpoint)
                try deliver("ordinary", by: &dealer)
                let peer = try nextRouted(&router).peer
                try #require(peer.bytes.count == 5 && peer.bytes[0] == 0)
            }
            withExtendedLifetime(foreigners) {}
        }
    }
}

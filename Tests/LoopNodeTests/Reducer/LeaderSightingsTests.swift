import LoopCluster
import LoopCore
import LoopWire
import Testing

@testable import LoopNode

@Suite struct `Another leader` {
    private func leader(epoch: UInt64 = 1) -> LeaderFound {
        LeaderFound(address: "tcp://b:7710", history: History(7), epoch: Epoch(number: epoch, nonce: 1))
    }

    @Test func `is reported when it was seen twice, and lost when it says that it leads no more`() {
        var sightings = LeaderSightings()
        #expect(sightings.take(.leader(leader())) == [])
        #expect(sightings.take(.leader(leader())) == [leader()])
        #expect(sightings.take(.leader(leader(epoch: 2))) == [])
        #expect(sightings.take(.leader(leader(epoch: 2))) == [leader(epoch: 2)])
        #expect(sightings.take(.noLeader) == [])
    }

    @Test func `stays through one question without an answer, and is lost after two`() {
        var sightings = LeaderSightings()
        #expect(sightings.take(.leader(leader())) == [])
        #expect(sightings.take(.leader(leader())) == [leader()])
        for _ in 1...2 {
            #expect(sightings.take(.silence) == [leader()])
            #expect(sightings.take(.leader(leader())) == [leader()])
        }
        #expect(sightings.take(.silence) == [leader()])
        #expect(sightings.take(.silence) == [])
        #expect(sightings.take(.silence) == [])
        #expect(sightings.take(.leader(leader())) == [])
    }

    @Test func `is not reported for one answer and none behind it`() {
        var sightings = LeaderSightings()
        #expect(sightings.take(.leader(leader())) == [])
        #expect(sightings.take(.silence) == [])
        #expect(sightings.take(.leader(leader())) == [])
    }

    /// A standby that takes over has seen its predecessor lead.
    @Test func `is not reported for answers from before this reducer leads`() {
        var sightings = LeaderSightings()
        let start = sightings.start
        #expect(sightings.take(.leader(leader())) == [])
        #expect(sightings.take(.leader(leader())) == [leader()])
        sightings.forget()
        #expect(sightings.leaders == [])
        sightings.take(["tcp://b:7710": .leader(leader())], since: start)
        #expect(sightings.take(.silence) == [])
        #expect(sightings.take(.leader(leader())) == [])
        #expect(sightings.take(.leader(leader())) == [leader()])
    }
}

extension LeaderSightings {
    fileprivate mutating func take(_ answer: Answer) -> [LeaderFound] {
        take(["tcp://b:7710": answer], since: start)
        return leaders
    }
}

import LoopCore
import Testing

@testable import LoopCluster

@Suite struct `The lease of a journal` {
    private var watch = HolderWatch()
    private let sign = HolderWatch.Sign(journal: 1, term: 4, nonce: 9, renewals: 20, position: 3)

    private func time(_ milliseconds: UInt64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    @Test mutating func `is over when nothing has changed for 1.15 leases by the clock of who watches`() {
        #expect(watch.verdict(on: sign, lease: .seconds(1), at: time(500)) == .watched(until: time(1650)))
        #expect(watch.verdict(on: sign, lease: .seconds(1), at: time(1649)) == .watched(until: time(1650)))
        #expect(watch.verdict(on: sign, lease: .seconds(1), at: time(1650)) == .free)
    }

    @Test mutating func `begins again with each renewal, each takeover and each nonce`() {
        var now: UInt64 = 500
        _ = watch.verdict(on: sign, lease: .seconds(1), at: time(now))
        for change in [
            { $0.renewals += 1 }, { $0.position += 1 }, { $0.term += 1 }, { $0.nonce += 1 },
        ] as [(inout HolderWatch.Sign) -> Void] {
            var other = sign
            change(&other)
            now += 1149
            #expect(watch.verdict(on: other, lease: .seconds(1), at: time(now)) == .renewed)
            now += 1149
            #expect(watch.verdict(on: other, lease: .seconds(1), at: time(now)) == .watched(until: time(now + 1)))
            #expect(watch.verdict(on: sign, lease: .seconds(1), at: time(now)) == .renewed)
        }
    }

    @Test mutating func `of another journal says nothing of this one`() {
        _ = watch.verdict(on: sign, lease: .seconds(1), at: time(0))
        let other = HolderWatch.Sign(journal: 2, term: 4, nonce: 9, renewals: 21, position: 3)
        #expect(watch.verdict(on: other, lease: .seconds(1), at: time(10)) == .watched(until: time(1160)))
    }

    @Test(arguments: [(.max, 4_140_000), (-5, 0), (0, 0)] as [(Int64, UInt64)])
    mutating func `is waited for no longer than any lease lasts, whatever the row says`(lease: Int64, limit: UInt64) {
        _ = watch.verdict(on: sign, lease: .milliseconds(lease), at: time(0))
        #expect(watch.verdict(on: sign, lease: .milliseconds(lease), at: time(limit)) == .free)
    }
}

import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `What a standby has heard of the leader` {
    private var signs = LeaderSigns(lease: .seconds(1))
    private let rows = FollowedRows()

    init() {
        rows.mayLag = true
        rows.append([.skipped(SessionID(1), number: 1)])
    }

    private func time(_ milliseconds: UInt64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    @Test mutating func `shows that a server is the leader's from the second renewal after the newest records on`()
        throws
    {
        signs.hear(rows.newestEnd, at: time(0))
        #expect(try !signs.isCurrent(rows, at: time(0)))
        signs.hear(rows.newestEnd, at: time(10))
        #expect(try signs.isCurrent(rows, at: time(10)))
        signs.reach(1)
        signs.hear(rows.newestEnd, at: time(20))
        #expect(try !signs.isCurrent(rows, at: time(20)))
        signs.hear(rows.newestEnd, at: time(30))
        signs.reach(1)
        #expect(try signs.isCurrent(rows, at: time(30)))
    }

    @Test mutating func `shows it for 1.15 leases, and of a server with the leader's newest row`() throws {
        signs.hear(rows.newestEnd, at: time(0))
        signs.hear(rows.newestEnd, at: time(0))
        #expect(try signs.isCurrent(rows, at: time(1150)))
        #expect(try !signs.isCurrent(rows, at: time(1151)))
        signs.hear(RowEnd(position: 1, checksum: 0), at: time(1151))
        #expect(try !signs.isCurrent(rows, at: time(1151)))
    }

    @Test mutating func `is not needed of a journal with one server`() throws {
        rows.mayLag = false
        #expect(try signs.isCurrent(rows, at: time(0)))
        #expect(signs.levelTime(rows, lookedAt: time(7)) == time(7))
    }

    @Test mutating func `says when a reader had everything, and how much it lacks`() {
        #expect(signs.levelTime(rows, lookedAt: time(7)) == nil)
        signs.reach(3)
        #expect(signs.lag == 0)
        signs.hear(RowEnd(position: 5, checksum: 0), at: time(10))
        #expect(signs.levelTime(rows, lookedAt: time(1160)) == time(1160))
        #expect(signs.levelTime(rows, lookedAt: time(1161)) == time(10))
        #expect(signs.lag == 2)
        signs.reach(8)
        #expect(signs.lag == 0)
    }

    @Test func `makes a reader leave a server that lacks the leader's newest row for more than a second`() {
        var source = SourceWatch()
        let end = RowEnd(position: 5, checksum: 0)
        #expect(source.hasAll(through: nil, at: time(0)) { _ in false })
        #expect(!source.hasAll(through: end, at: time(10)) { _ in false })
        #expect(!source.isStill(at: time(1010)))
        #expect(source.isStill(at: time(1011)))
        #expect(source.hasAll(through: end, at: time(1011)) { $0 == end })
        #expect(!source.isStill(at: time(9000)))
        // A row that was found is not looked for again.
        #expect(source.hasAll(through: end, at: time(9000)) { _ in false })
    }
}

import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `The table of owners` {
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `says what a dictionary of owners says, and of each member all that it holds`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var table = OwnerTable()
        var holdings = [Holding](repeating: Holding(), count: 4)
        var owners: [Int: Ownership] = [:]
        for count in 1...2000 as ClosedRange<UInt64> {
            let place = Int.random(in: 0..<40, using: &random)
            if let owner = owners[place] {
                table.take(place, &holdings[Int(owner.session.value)])
                owners[place] = nil
            } else {
                let session = UInt64.random(in: 0..<4, using: &random)
                let owner = Ownership(session: SessionID(session), attempt: Attempt(epoch: 1, count: count))
                table.give(place, to: owner, &holdings[Int(session)])
                owners[place] = owner
            }
            if Int.random(in: 0..<500, using: &random) == 0 {
                table.removeAll()
                holdings = [Holding](repeating: Holding(), count: 4)
                owners = [:]
            }
            #expect(table.count == owners.count)
            for place in 0...40 { #expect(table[place] == owners[place]) }
            for (session, holding) in holdings.enumerated() {
                let held = owners.filter { $0.value.session.value == UInt64(session) }.keys.sorted()
                #expect(table.places(of: SessionID(UInt64(session)), holding) == held)
                #expect(holding.count == held.count)
                #expect(holding.isEmpty == held.isEmpty)
            }
            let some = Set((0..<4 as Range<UInt64>).filter { _ in Bool.random(using: &random) }.map { SessionID($0) })
            let held = owners.filter { some.contains($0.value.session) }
            let places = table.places(ofAny: some)
            #expect(places.map(\.place) == held.keys.sorted())
            #expect(places.allSatisfy { held[$0.place]?.session == $0.session })
        }
    }
}

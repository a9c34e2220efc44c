import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `Updates that wait for a state` {
    private var waiting = Waiting()

    private func delta(_ base: ClosedRange<UInt64>, to seq: UInt64, bytes: Int = 1) -> StateDelta {
        StateDelta(
            base: Seq(base.lowerBound)...Seq(base.upperBound), seq: Seq(seq), hash: nil,
            bytes: Array(repeating: 0, count: bytes))
    }

    @Test mutating func `are deltas to the state, and those that are too old are forgotten`() {
        for delta in [delta(1...2, to: 3), delta(3...4, to: 6), delta(8...8, to: 9)] {
            waiting.add(delta, bytesMax: .max)
        }
        #expect(waiting.next(after: Seq(4)...Seq(5), anyBase: false)?.seq == Seq(6))
        #expect(waiting.next(after: Seq(6)...Seq(6), anyBase: false) == nil)
        #expect(waiting.next(after: Seq(6)...Seq(6), anyBase: true)?.seq == Seq(9))
        #expect(waiting.isEmpty)
    }

    @Test mutating func `are the newest deltas that have space`() {
        for seq in 1...4 as ClosedRange<UInt64> { waiting.add(delta(seq...seq, to: seq + 1, bytes: 4), bytesMax: 10) }
        #expect(waiting.deltas.map(\.seq) == [Seq(4), Seq(5)])
    }
}

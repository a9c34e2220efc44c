import LoopCore
import Testing

@testable import LoopNode

@Suite struct `The gate for new connections` {
    private let start = MonotonicTime(nanoseconds: 5_000_000_000)

    @Test func `lets those of a quarter of a second come at once, and closes with the last of them`() {
        var gate = ConnectionGate(perSecond: 400)
        let closed = (1...100).map { _ in gate.take(at: start) }
        #expect(closed == Array(repeating: false, count: 99) + [true])
        #expect(!gate.isOpen)
    }

    @Test func `stays closed while connections that were under way come`() {
        var gate = ConnectionGate(perSecond: 400)
        for _ in 1...100 { _ = gate.take(at: start) }
        #expect(gate.take(at: start) == false)
        #expect(gate.advance(to: start + .milliseconds(102)) == false, "the one too many is paid for first")
        #expect(gate.advance(to: start + .milliseconds(103)) == true)
    }

    @Test func `opens once, when a tenth of a second has brought new ones`() {
        var gate = ConnectionGate(perSecond: 400)
        for _ in 1...100 { _ = gate.take(at: start) }
        #expect(gate.advance(to: start + .milliseconds(99)) == false)
        #expect(gate.advance(to: start + .milliseconds(100)) == true)
        #expect(gate.advance(to: start + .milliseconds(100)) == false)
        let closed = (1...40).map { _ in gate.take(at: start + .milliseconds(100)) }
        #expect(closed == Array(repeating: false, count: 39) + [true])
    }

    @Test func `takes as many in the long run as it may, and never saves more than a quarter of a second's`() {
        var gate = ConnectionGate(perSecond: 400)
        var taken = 0
        for millisecond in 0..<10_000 {
            let now = start + .milliseconds(millisecond)
            _ = gate.advance(to: now)
            if gate.isOpen {
                _ = gate.take(at: now)
                taken += 1
            }
        }
        #expect((4000...4110).contains(taken))
        let later = start + .seconds(3600)
        _ = gate.advance(to: later)
        #expect((1...100).map { _ in gate.take(at: later) }.firstIndex(of: true) == 99)
    }
}

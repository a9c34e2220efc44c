import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `What an observer asks for` {
    private let now = MonotonicTime(nanoseconds: 1_000_000_000)
    private let second = Duration.seconds(1)
    private var requests = StateRequests(.updates(.delta))

    private func part(
        _ part: UInt64, _ bytes: [UInt8] = [1], of transfer: UInt64 = 1, end: StatePart.End = .nothing
    ) -> StatePart {
        StatePart(transfer: transfer, seq: Seq(4), part: part, end: end, bytes: bytes)
    }

    private func asked(_ parts: ClosedRange<UInt64>, form: StateForm = .chunks) -> [ToReducer] {
        parts.map { .stateRequest(transfer: 1, part: $0, form: form, deltas: 0) }
    }

    private func first(_ form: StateForm) -> [ToReducer] {
        [.stateRequest(transfer: 0, part: 0, form: form, deltas: 0)]
    }

    @Test mutating func `is a state, then its parts ahead, and again what has not come`() {
        #expect(requests.ask(at: now) == first(.chunks))
        #expect(requests.next == now + .milliseconds(300))
        #expect(requests.take(part(0)) == .more)
        #expect(requests.isFetching && requests.byteCount == 1)
        #expect(requests.askAhead(at: now) == asked(1...8))
        #expect(requests.take(part(2)) == .nothing)
        #expect(requests.ask(at: now) == asked(1...8))
    }

    @Test mutating func `comes in chunks, or whole in one`() {
        #expect(requests.take(part(0)) == .more)
        #expect(requests.take(part(1, [2], end: .chunk)) == .chunk(Seq(4), number: 0, [1, 2], isLast: false))
        #expect(requests.take(part(2, [3], end: .state)) == .chunk(Seq(4), number: 1, [3], isLast: true))
        #expect(requests.take(part(0, [5], of: 2, end: .state)) == .state(Seq(4), [5]))
    }

    @Test mutating func `begins with the first part of any transfer`() {
        #expect(requests.take(part(3)) == .nothing)
        #expect(!requests.isFetching)
        #expect(requests.take(part(0)) == .more)
        #expect(requests.take(part(1, of: 2)) == .nothing)
        #expect(requests.take(part(0, [9], of: 2)) == .more)
        #expect(requests.take(part(1, [9], of: 2, end: .state)) == .state(Seq(4), [9, 9]))
        requests.endTransfer()
        #expect(requests.askAhead(at: now) == [])
    }

    @Test mutating func `is a whole state once one of chunks proved wrong`() {
        requests.diverge(at: now)
        #expect(requests.ask(at: now) == first(.chunks))
        _ = requests.take(part(0, end: .chunk))
        requests.cameWhole()
        requests.diverge(at: now)
        #expect(requests.ask(at: now) == first(.chunks))
        _ = requests.take(part(0, end: .chunk))
        requests.diverge(at: now)
        #expect(!requests.isFetching)
        #expect(requests.ask(at: now) == first(.whole))
    }

    @Test mutating func `waits where states prove wrong again and again`() {
        requests.diverge(at: now)
        #expect(requests.next == now)
        requests.diverge(at: now + second)
        #expect(requests.next == now + second * 6)
        requests.diverge(at: now + second * 11)
        #expect(requests.next == now + second * 11)
    }

    @Test func `is whole from the beginning where states do not build on each other`() {
        var requests = StateRequests(.wholeStates)
        #expect(requests.ask(at: now) == [.stateRequest(transfer: 0, part: 0)])
    }
}

import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `The state that an observer has handed out` {
    private let now = MonotonicTime(nanoseconds: 5)
    private let later = MonotonicTime(nanoseconds: 9)
    private var state = ObservedState()

    private func seqs(_ range: ClosedRange<UInt64>) -> ClosedRange<Seq> {
        Seq(range.lowerBound)...Seq(range.upperBound)
    }

    @Test mutating func `is unknown until the first`() {
        state.notice(Seq(4), at: now)
        state.lacksBase = true
        #expect(state.phase == .unknown && state.newest == Seq(4) && !state.isNewest && !state.isOld(Seq(1)))
        #expect(state.extend(by: seqs(1...4), at: now) == false)
        state.begin(Seq(4), at: later)
        #expect(state.known == ObservedState.Known(seqs: seqs(4...4)) && state.shown == Seq(4) && state.isNewest)
    }

    @Test mutating func `is outdated since a newer one was known, until that is reached`() {
        state.begin(Seq(4), at: now)
        state.notice(Seq(6), at: now)
        state.notice(Seq(7), at: later)
        #expect(state.known?.outdatedSince == now && !state.isNewest)
        // A step on the way begins the wait for the next.
        state.reach(seqs(5...5), at: later)
        #expect(state.known?.outdatedSince == later)
        state.reach(seqs(7...7), at: later)
        #expect(state.known?.outdatedSince == nil && state.isNewest)
    }

    @Test mutating func `is the same over seqs that overlap its own`() {
        state.begin(Seq(4), at: now)
        #expect(state.extend(by: seqs(5...6), at: now) == false)
        #expect(state.extend(by: seqs(2...6), at: now) == true)
        #expect(state.seqs == seqs(2...6) && state.shown == Seq(6) && state.isNewest)
        #expect(state.isOld(Seq(6)) && !state.isOld(Seq(7)))
    }

    @Test mutating func `is compared once with each hash of its seqs`() {
        let hash = ObservedState.SeqHash(seq: Seq(4), value: 1)
        #expect(state.compares(hash) == false)
        state.begin(Seq(4), at: now)
        #expect(state.compares(hash) == true)
        #expect(state.compares(hash) == false)
        #expect(state.compares(ObservedState.SeqHash(seq: Seq(4), value: 2)) == true)
        #expect(state.compares(ObservedState.SeqHash(seq: Seq(5), value: 1)) == false)
        state.begin(Seq(4), at: now)
        #expect(state.compares(hash) == true)
    }

    @Test mutating func `is forgotten with what it lacked, and no older one follows what is shown`() {
        state.begin(Seq(4), at: now)
        state.lacksBase = true
        #expect(!state.isNewest)
        state.forget()
        #expect(state.phase == .unknown && !state.lacksBase)
        #expect(state.isOld(Seq(3)) && !state.isOld(Seq(4)))
        state.diverge(shown: Seq(2))
        #expect(!state.isOld(Seq(2)))
        state.diverge(shown: nil)
        #expect(!state.isOld(.initial))
    }

    @Test mutating func `is the newest in a new epoch, as far as is known`() {
        state.begin(Seq(4), at: now)
        state.notice(Seq(9), at: now)
        state.beginEpoch(keepingState: true)
        #expect(state.newest == Seq(4) && state.isNewest && state.known?.outdatedSince == nil)
        state.beginEpoch(keepingState: false)
        #expect(state.newest == .initial && state.shown == Seq(4) && !state.isOld(Seq(1)))
    }
}

import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `The epoch that an observer follows` {
    private let first = History(1)
    private let second = History(2)
    private let rules = BrokenRules()
    private var followed = FollowedEpoch()

    private func frame(_ history: History, epoch: UInt64, nonce: UInt64 = 7) -> PeerFrame {
        PeerFrame(
            history: history, epoch: Epoch(number: epoch, nonce: nonce), session: .none,
            message: .serverHeartbeat(Seq(1)))
    }

    private mutating func hear(
        _ history: History, epoch: UInt64, nonce: UInt64 = 7, at second: Int = 0, breaking broken: [Rule] = []
    ) -> FollowedEpoch.Verdict {
        followed.hear(
            history, Epoch(number: epoch, nonce: nonce), at: .zero + .seconds(second), BrokenRules(broken))
    }

    @Test mutating func `is the newest of a history, whatever its nonce`() {
        #expect(hear(first, epoch: 2) == .other)
        #expect(hear(first, epoch: 2) == .same)
        #expect(hear(first, epoch: 3) == .newEpoch)
        #expect(hear(first, epoch: 3, nonce: 8) == .newEpoch)
        #expect(hear(first, epoch: 2) == .ignored)
        #expect(hear(first, epoch: 2, breaking: [.olderEpochsAreDropped]) == .newEpoch)
    }

    @Test mutating func `is of a new history at once, and of one that was left not again`() {
        _ = hear(first, epoch: 5)
        #expect(hear(second, epoch: 1) == .other)
        #expect(hear(first, epoch: 6) == .ignored)
        #expect(followed.history == second && followed.epoch.number == 1)
        #expect(hear(first, epoch: 6, breaking: [.leftHistoriesStayLeft]) == .other)
    }

    @Test mutating func `is one that was left after a silence, if that goes on and on`() {
        _ = hear(first, epoch: 5)
        _ = hear(second, epoch: 1)
        for _ in 0..<9 { followed.pass(.seconds(1)) }
        #expect(hear(first, epoch: 5, at: 9) == .ignored)
        followed.pass(.seconds(1))
        // Eight frames, and at least five seconds.
        for second in 10..<17 { #expect(hear(first, epoch: 5, at: second) == .ignored) }
        #expect(hear(first, epoch: 5, at: 17) == .other)
    }

    @Test mutating func `is not changed by a few late frames, nor while the present one is heard`() {
        _ = hear(first, epoch: 5)
        for _ in 0..<10 { followed.pass(.seconds(1)) }
        for second in 0..<7 { #expect(hear(first, epoch: 4, at: second) == .ignored) }
        // Another one begins to count.
        #expect(hear(first, epoch: 3, at: 8) == .ignored)
        #expect(hear(first, epoch: 4, at: 9) == .ignored)
        #expect(hear(first, epoch: 5, at: 10) == .same)
        for second in 11..<30 { #expect(hear(first, epoch: 4, at: second) == .ignored) }
    }

    @Test mutating func `is not silent while this process stands still`() {
        _ = hear(first, epoch: 5)
        followed.pass(.seconds(3600))
        for second in 0..<30 { #expect(hear(first, epoch: 4, at: second) == .ignored) }
    }

    @Test mutating func `tells which words of the end are of what is over`() {
        _ = hear(first, epoch: 5)
        _ = hear(second, epoch: 3)
        func end(_ history: History, epoch: UInt64) -> HeardEnd {
            HeardEnd(frame(history, epoch: epoch), at: Seq(1), exitCode: 0, text: "")
        }
        #expect(followed.hasLeft(end(first, epoch: 9)) && followed.hasLeft(end(second, epoch: 2)))
        #expect(!followed.hasLeft(end(second, epoch: 3)) && !followed.hasLeft(end(History(3), epoch: 1)))
    }
}

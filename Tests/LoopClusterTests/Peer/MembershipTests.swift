import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `The membership of a peer` {
    private static let history = History(0x77)
    private static let epoch = Epoch(number: 4, nonce: 5)

    private static func frame(
        _ history: History = history, _ epoch: Epoch = epoch, _ session: UInt64 = 3
    ) -> PeerFrame {
        PeerFrame(history: history, epoch: epoch, session: SessionID(session), message: .goodbyeHeard)
    }

    private var member: Membership {
        var member = Membership()
        _ = member.admit(by: Self.frame())
        return member
    }

    @Test(arguments: [
        (frame(), Membership.Origin.current),
        (frame(history, Epoch(number: 3, nonce: 5)), .earlier),
        (frame(history, Epoch(number: 5, nonce: 1)), .later),
        (frame(history, Epoch(number: 4, nonce: 6)), .later),
        (frame(History(0x88), Epoch(number: 1, nonce: 1)), .later),
        (frame(history, epoch, 2), .earlier),
        (frame(history, epoch, 4), .later),
    ])
    func `says where a frame comes from`(frame: PeerFrame, origin: Membership.Origin) {
        #expect(member.origin(of: frame, BrokenRules()) == origin)
    }

    @Test func `takes what it should not where a rule is broken`() {
        let older = Self.frame(Self.history, Epoch(number: 3, nonce: 5))
        #expect(member.origin(of: older, BrokenRules([.olderEpochsAreDropped])) == .current)
        #expect(
            member.origin(of: Self.frame(Self.history, Self.epoch, 2), BrokenRules([.framesNameTheirSession]))
                == .current)
    }

    @Test(arguments: [
        (frame(), Membership.JoinVerdict.repeats),
        (frame(history, Epoch(number: 3, nonce: 5)), .late),
        (frame(history, Epoch(number: 5, nonce: 1)), .continues),
        (frame(history, Epoch(number: 4, nonce: 6)), .continues),
        (frame(history, epoch, 2), .late),
        (frame(history, epoch, 4), .replaces),
        (frame(History(0x88), Epoch(number: 1, nonce: 1), 1), .replaces),
    ])
    func `says what a join acceptance means`(frame: PeerFrame, verdict: Membership.JoinVerdict) {
        #expect(member.verdict(on: frame, BrokenRules()) == verdict)
    }

    @Test func `goes on in any session where it has none`() {
        #expect(Membership().verdict(on: Self.frame(), BrokenRules()) == .continues)
        var member = member
        member.loseSession()
        #expect(member.history == Self.history && member.epoch == .none && member.session == .none)
        #expect(member.verdict(on: Self.frame(Self.history, Self.epoch, 2), BrokenRules()) == .continues)
        #expect(member.verdict(on: Self.frame(History(0x88)), BrokenRules()) == .continues)
    }

    @Test func `is in another epoch only after the first word of it`() {
        var member = member
        #expect(member.admit(by: Self.frame(Self.history, Self.epoch, 4)) == false)
        #expect(member.admit(by: Self.frame(Self.history, Epoch(number: 5, nonce: 1), 4)) == true)
        #expect(member.session == SessionID(4))
    }

    @Test func `goes on where an earlier process was`() {
        var stream = PeerStream()
        (stream.history, stream.epoch, stream.session) = (Self.history, Self.epoch, SessionID(3))
        #expect(Membership(stream) == member)
    }
}

@Suite struct `Histories that were left` {
    @Test func `are known, the newest sixteen of them`() {
        var left = LeftHistories()
        for value in 1...17 as ClosedRange<UInt64> { left.insert(History(value)) }
        #expect(!left.contains(History(1)) && left.contains(History(2)) && left.contains(History(17)))
    }

    @Test func `are counted once, and can be followed again`() {
        var left = LeftHistories()
        for value: UInt64 in [1, 2, 1] { left.insert(History(value)) }
        left.insert(.none)
        left.remove(History(1))
        var two = LeftHistories()
        two.insert(History(2))
        #expect(left == two)
    }
}

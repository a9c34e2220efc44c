import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

/// What an observer's machine makes of frames that arrive in spite of everything; found by simulated observers.
@Suite struct `G9 an observer shows what exists` {
    private let loop = LoopID(name: "lamps")
    private let first = History(1)
    private let second = History(2)
    private var observer = ObserverMachine(.wholeStates, at: .zero)

    private func frame(_ history: History, epoch: UInt64, _ message: ToPeer) -> PeerFrame {
        PeerFrame(history: history, epoch: Epoch(number: epoch, nonce: 7), session: .none, message: message)
    }

    /// One of the two parts of a state.
    private func part(_ transfer: UInt64, of seq: UInt64, _ part: UInt64, _ bytes: [UInt8]) -> ToPeer {
        .statePart(
            StatePart(transfer: transfer, seq: Seq(seq), part: part, end: part == 0 ? .nothing : .state, bytes: bytes))
    }

    private func asked(_ parts: ClosedRange<UInt64>, of transfer: UInt64 = 1) -> [ObserverAction] {
        parts.map { .send(.stateRequest(transfer: transfer, part: $0)) }
    }

    private func id(epoch: UInt64, _ seq: UInt64) -> StateID {
        StateID(history: first, epoch: Epoch(number: epoch, nonce: 7), seq: Seq(seq))
    }

    private func time(_ seconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test mutating func `parts of two reducer processes are not put together, although both number them from 1`() {
        observer.receiveReply(frame(first, epoch: 1, part(1, of: 10, 0, [1, 1])), at: time(1))
        #expect(observer.takeRest() == asked(1...8))
        // The process has ended; the next one knows the request only by a number that it has given to another state.
        observer.receiveReply(frame(first, epoch: 2, part(1, of: 11, 1, [2, 2])), at: time(2))
        #expect(observer.takeRest() == [])
        observer.advance(to: time(3))
        #expect(observer.takeRest() == [.send(.stateRequest(transfer: 0, part: 0))])
        observer.receiveReply(frame(first, epoch: 2, part(1, of: 11, 0, [2, 2])), at: time(4))
        observer.receiveReply(frame(first, epoch: 2, part(1, of: 11, 1, [2, 2])), at: time(4))
        #expect(observer.takeRest().last == .state(Seq(11), [2, 2, 2, 2]))
    }

    @Test mutating func `parts are asked for before they come, eight ahead, and again where they are lost`() {
        let bytes = (0..<24).map { UInt8($0) }
        func part(_ part: UInt64) -> PeerFrame {
            let end = part == 11 ? StatePart.End.state : .nothing
            let bytes = Array(bytes[2 * Int(part)..<2 * Int(part) + 2])
            return frame(
                first, epoch: 1,
                .statePart(StatePart(transfer: 1, seq: Seq(3), part: part, end: end, bytes: bytes)))
        }
        observer.receiveReply(part(0), at: time(1))
        #expect(observer.takeRest() == asked(1...8))
        observer.receiveReply(part(1), at: time(1))
        #expect(observer.takeRest() == asked(9...9))
        // The one after it is lost: those that come are of no use.
        for number in UInt64(3)...9 { observer.receiveReply(part(number), at: time(1)) }
        #expect(observer.takeRest() == [])
        observer.advance(to: time(2))
        #expect(observer.takeRest() == asked(2...9))
        for number in UInt64(2)...11 { observer.receiveReply(part(number), at: time(2)) }
        // Where the state ends is known when it does.
        #expect(observer.takeRest() == asked(10...18) + [.state(Seq(3), bytes)])
    }

    @Test mutating func `what an epoch has announced is not waited for where the next one has lost it`() {
        observer.receivePublished(frame(first, epoch: 1, .update(Seq(5), state: [1])), at: time(1))
        observer.receivePublished(frame(first, epoch: 1, .serverHeartbeat(Seq(9))), at: time(1))
        observer.advance(to: time(2))
        #expect(observer.takeRest() == [.state(Seq(5), [1]), .send(.stateRequest(transfer: 0, part: 0))])
        #expect(observer.standing(isHeard: true) == ObserverStanding(state: id(epoch: 1, 5), isCurrent: false))
        // The journal ends at 5: what came after it was lost with the process.
        observer.receivePublished(frame(first, epoch: 2, .serverHeartbeat(Seq(5))), at: time(3))
        observer.receivePublished(frame(first, epoch: 2, .update(Seq(5), state: [1])), at: time(3))
        observer.advance(to: time(4))
        #expect(observer.takeRest() == [.again(Seq(5), [1])])
        #expect(observer.standing(isHeard: true) == ObserverStanding(state: id(epoch: 2, 5), isCurrent: true))
    }

    @Test mutating func `an observer that is behind hears of the end after it has fetched the last state`() {
        observer.receivePublished(frame(first, epoch: 1, .update(Seq(1), state: [1])), at: time(1))
        observer.receivePublished(frame(first, epoch: 1, .ended(at: Seq(2), exitCode: 3, text: "done")), at: time(1))
        #expect(observer.takeRest() == [.state(Seq(1), [1]), .send(.stateRequest(transfer: 0, part: 0))])
        let last = StatePart(transfer: 1, seq: Seq(2), part: 0, end: .state, bytes: [2])
        observer.receiveReply(frame(first, epoch: 1, .statePart(last)), at: time(1))
        #expect(observer.takeRest() == [.state(Seq(2), [2])])
        // The follower of that state might have found that it does not fit.
        #expect(observer.deadline == time(1))
        #expect(observer.takeRest() == [.ended(exitCode: 3, text: "done")])
        #expect(observer.takeRest() == [])
    }

    @Test mutating func `an observer whose last state cannot be had in time hears of the end a second later, once`() {
        observer.receivePublished(frame(first, epoch: 1, .ended(at: Seq(2), exitCode: 0, text: "")), at: time(1))
        #expect(observer.takeRest() == [.send(.stateRequest(transfer: 0, part: 0))])
        observer.advance(to: time(2))
        #expect(
            observer.takeRest() == [.send(.stateRequest(transfer: 0, part: 0)), .ended(exitCode: 0, text: "")])
        // An observer that is still there is shown the state when it comes.
        let last = StatePart(transfer: 1, seq: Seq(2), part: 0, end: .state, bytes: [2])
        observer.receiveReply(frame(first, epoch: 1, .statePart(last)), at: time(3))
        #expect(observer.takeRest() == [.state(Seq(2), [2])])
        #expect(observer.takeRest() == [])
    }

    @Test func `an observer of rare updates asks for the last state as soon as it may`() {
        func time(_ milliseconds: Int) -> MonotonicTime { .zero + .milliseconds(milliseconds) }
        var observer = ObserverMachine(.updates(.full, interval: 5000), at: .zero)
        observer.advance(to: time(900))
        observer.receivePublished(frame(first, epoch: 1, .update(Seq(1), state: [1])), at: time(1000))
        observer.receivePublished(frame(first, epoch: 1, .ended(at: Seq(2), exitCode: 0, text: "")), at: time(1000))
        let request = ObserverAction.send(.stateRequest(transfer: 0, part: 0))
        #expect(observer.takeRest() == [request, .state(Seq(1), [1])])
        #expect(observer.deadline == time(1200))
        observer.advance(to: time(1200))
        #expect(observer.takeRest() == [request])
    }

    /// The journal may have lost it: a reducer that still has it says it again.
    @Test mutating func `an end that is not handed out is forgotten in a newer epoch`() {
        observer.receivePublished(frame(first, epoch: 1, .update(Seq(1), state: [1])), at: time(1))
        observer.receivePublished(frame(first, epoch: 1, .ended(at: Seq(3), exitCode: 0, text: "")), at: time(1))
        #expect(observer.takeRest().first == .state(Seq(1), [1]))
        observer.receivePublished(frame(first, epoch: 2, .serverHeartbeat(Seq(1))), at: time(1))
        #expect(observer.takeRest() == [])
        observer.advance(to: time(3))
        // It asks for a state, with which every epoch begins, and has heard of no end.
        #expect(observer.takeRest() == [.send(.stateRequest(transfer: 0, part: 0))])
        observer.receivePublished(frame(first, epoch: 2, .ended(at: Seq(2), exitCode: 1, text: "")), at: time(3))
        observer.receivePublished(frame(first, epoch: 2, .update(Seq(2), state: [2])), at: time(3))
        #expect(observer.takeRest().last == .state(Seq(2), [2]))
        #expect(observer.takeRest() == [.ended(exitCode: 1, text: "")])
    }

    @Test mutating func `sixteen histories that were left are known as such`() {
        for number in UInt64(1)...17 {
            observer.receivePublished(frame(History(number), epoch: 1, .update(Seq(1), state: [1])), at: time(number))
        }
        _ = observer.takeRest()
        observer.receivePublished(frame(History(1), epoch: 1, .update(Seq(9), state: [9])), at: time(18))
        #expect(observer.takeRest() == [])
        #expect(observer.history == History(17))
    }

    @Test mutating func `a late frame of a history that was left does not lead back to it`() {
        observer.receivePublished(frame(first, epoch: 1, .update(Seq(34), state: [1])), at: time(1))
        observer.receivePublished(frame(second, epoch: 2, .update(Seq(34), state: [2])), at: time(2))
        #expect(observer.takeRest() == [.state(Seq(34), [1]), .state(Seq(34), [2])])
        observer.receivePublished(frame(first, epoch: 1, .serverHeartbeat(Seq(34))), at: time(3))
        observer.receivePublished(frame(first, epoch: 1, .update(Seq(35), state: [1])), at: time(3))
        observer.receivePublished(frame(second, epoch: 2, .update(Seq(34), state: [2])), at: time(3))
        #expect(observer.takeRest() == [])
    }

    @Test mutating func `a journal that was put back is followed when the other one has been silent for long`() {
        observer.receivePublished(frame(first, epoch: 1, .update(Seq(34), state: [1])), at: time(1))
        observer.receivePublished(frame(second, epoch: 2, .update(Seq(3), state: [2])), at: time(2))
        _ = observer.takeRest()
        // To stand still is not to hear nothing.
        observer.receivePublished(frame(first, epoch: 3, .update(Seq(34), state: [3])), at: time(60))
        #expect(observer.takeRest() == [])
        for second in 61..<75 { observer.advance(to: time(UInt64(second))) }
        observer.receivePublished(frame(first, epoch: 3, .update(Seq(34), state: [3])), at: time(75))
        #expect(observer.takeRest() == [])
        #expect(returned(to: first, epoch: 3, from: 76) == 82)
    }

    @Test mutating func `a frame of an epoch that was left never leads back to it`() {
        observer.receivePublished(frame(first, epoch: 1, .update(Seq(34), state: [1])), at: time(1))
        observer.receivePublished(frame(second, epoch: 1, .update(Seq(3), state: [2])), at: time(2))
        observer.receivePublished(frame(second, epoch: 2, .update(Seq(4), state: [3])), at: time(2))
        _ = observer.takeRest()
        for second in 3..<20 { observer.advance(to: time(UInt64(second))) }
        observer.receivePublished(frame(first, epoch: 1, .update(Seq(35), state: [1])), at: time(20))
        observer.receivePublished(frame(second, epoch: 1, .update(Seq(5), state: [2])), at: time(20))
        #expect(observer.takeRest() == [])
    }

    @Test mutating func `an older copy of the journal that goes on under fewer epochs is followed after a silence`() {
        observer.receivePublished(frame(first, epoch: 5, .update(Seq(34), state: [5])), at: time(1))
        _ = observer.takeRest()
        observer.receivePublished(frame(first, epoch: 3, .update(Seq(12), state: [3])), at: time(2))
        #expect(observer.takeRest() == [])
        for second in 3..<20 { observer.advance(to: time(UInt64(second))) }
        observer.receivePublished(frame(first, epoch: 3, .update(Seq(13), state: [3])), at: time(20))
        #expect(observer.takeRest() == [])
        #expect(returned(to: first, epoch: 3, from: 21) == 27)
    }

    @Test mutating func `an epoch that was left for a late frame is followed again when it goes on and on`() {
        observer.receivePublished(frame(second, epoch: 7, .update(Seq(3), state: [2])), at: time(1))
        // A history that was over before this observer began, and that it cannot know as such.
        observer.receivePublished(frame(first, epoch: 1, .update(Seq(34), state: [1])), at: time(2))
        _ = observer.takeRest()
        #expect(returned(to: second, epoch: 7, from: 3) == 19)
    }

    /// The second at which frames that come every second are followed.
    private mutating func returned(to history: History, epoch: UInt64, from begin: UInt64) -> UInt64? {
        for second in begin..<begin + 30 {
            observer.receivePublished(
                frame(history, epoch: epoch, .update(Seq(second), state: [2])), at: time(second))
            if !observer.takeRest().isEmpty { return second }
        }
        return nil
    }
}

/// A seq means nothing without its history and its epoch.
@Suite struct `G9 seqs of two epochs are not compared` {
    private let first = History(1)
    private let second = History(2)
    private var observer = ObserverMachine(.wholeStates, at: .zero)

    private mutating func hear(_ history: History, epoch: UInt64, _ message: ToPeer, at seconds: Int = 1) {
        let frame = PeerFrame(
            history: history, epoch: Epoch(number: epoch, nonce: 7), session: .none, message: message)
        observer.receivePublished(frame, at: .zero + .seconds(seconds))
    }

    private mutating func standing() -> StateID? { observer.standing(isHeard: true).state }

    private func id(_ history: History, epoch: UInt64, _ seq: UInt64) -> StateID {
        StateID(history: history, epoch: Epoch(number: epoch, nonce: 7), seq: Seq(seq))
    }

    @Test mutating func `what the journal has lost is not shown for ever`() {
        hear(first, epoch: 1, .update(Seq(20), state: [1]))
        #expect(observer.takeRest() == [.state(Seq(20), [1])])
        #expect(standing() == id(first, epoch: 1, 20))
        // The history is the same, since no peer could prove that the end of the journal is missing.
        hear(first, epoch: 2, .serverHeartbeat(Seq(4)))
        #expect(standing() == nil)
        hear(first, epoch: 2, .update(Seq(4), state: [2]))
        #expect(observer.takeRest() == [.state(Seq(4), [2])])
        #expect(standing() == id(first, epoch: 2, 4))
        // In one epoch an older state is late.
        hear(first, epoch: 2, .update(Seq(3), state: [3]))
        #expect(observer.takeRest() == [])
    }

    @Test mutating func `a state of the same seq is asked for again, and compared`() {
        hear(first, epoch: 1, .update(Seq(4), state: [1]))
        _ = observer.takeRest()
        hear(first, epoch: 2, .serverHeartbeat(Seq(4)))
        observer.advance(to: .zero + .seconds(2))
        #expect(observer.takeRest() == [.send(.stateRequest(transfer: 0, part: 0))])
        hear(first, epoch: 2, .update(Seq(4), state: [2]), at: 2)
        #expect(observer.takeRest() == [.again(Seq(4), [2])])
    }

    @Test mutating func `an end that the peer beside it has heard waits for a state of the same history`() {
        hear(first, epoch: 1, .update(Seq(20), state: [1]))
        _ = observer.takeRest()
        let end = PeerFrame(
            history: second, epoch: Epoch(number: 1, nonce: 7), session: .none,
            message: .ended(at: Seq(4), exitCode: 0, text: ""))
        observer.end(HeardEnd(end, at: Seq(4), exitCode: 0, text: ""), now: .zero + .seconds(1))
        #expect(observer.takeRest() == [.send(.stateRequest(transfer: 0, part: 0))])
        hear(second, epoch: 1, .update(Seq(4), state: [2]))
        #expect(observer.takeRest() == [.state(Seq(4), [2])])
        #expect(observer.takeRest() == [.ended(exitCode: 0, text: "")])
    }

    @Test mutating func `transitions after a loss are shown, and not taken for old ones`() {
        observer = ObserverMachine(.transitions, at: .zero)
        func note(_ seq: UInt64, _ event: UInt8) -> TransitionNote {
            TransitionNote(
                seq: Seq(seq), time: WallTime(milliseconds: 0), session: .none, effect: nil, event: [event])
        }
        hear(first, epoch: 1, .transitions([note(1, 1), note(2, 1), note(3, 1)]))
        _ = observer.takeRest()
        hear(first, epoch: 2, .transitions([note(2, 2)]))
        #expect(observer.takeRest() == [.transitions([note(2, 2)])])
        hear(first, epoch: 3, .serverHeartbeat(Seq(1)))
        hear(first, epoch: 3, .transitions([note(3, 3)]))
        #expect(observer.takeRest() == [.missed(Seq(2)...Seq(2)), .transitions([note(3, 3)])])
        // An epoch that has lost nothing: what was not heard between is missed.
        hear(first, epoch: 4, .transitions([note(5, 4)]))
        #expect(observer.takeRest() == [.missed(Seq(4)...Seq(4)), .transitions([note(5, 4)])])
    }

    @Test func `a state is reached in its own history, and in a later epoch of it`() {
        let wanted = id(first, epoch: 2, 5)
        #expect(id(first, epoch: 2, 5).relation(to: wanted) == .reached)
        #expect(id(first, epoch: 2, 4).relation(to: wanted) == .before)
        #expect(id(first, epoch: 1, 9).relation(to: wanted) == .before)
        #expect(id(first, epoch: 3, 5).relation(to: wanted) == .reached)
        #expect(id(first, epoch: 3, 4).relation(to: wanted) == .lost)
        #expect(id(second, epoch: 9, 9).relation(to: wanted) == .unrelated)
        let copy = StateID(history: first, epoch: Epoch(number: 2, nonce: 8), seq: Seq(9))
        #expect(copy.relation(to: wanted) == .unrelated)
    }
}

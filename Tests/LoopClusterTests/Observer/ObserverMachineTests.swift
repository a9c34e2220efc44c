import LoopCluster
import LoopCore
import LoopWire
import Testing

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

    private func time(_ seconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test mutating func `parts of two reducer processes are not put together, although both number them from 1`() {
        observer.receiveReply(frame(first, epoch: 1, part(1, of: 10, 0, [1, 1])), at: time(1))
        #expect(observer.takeActions() == asked(1...8))
        // The process has ended; the next one knows the request only by a number that it has given to another state.
        observer.receiveReply(frame(first, epoch: 2, part(1, of: 11, 1, [2, 2])), at: time(2))
        #expect(observer.takeActions() == [])
        observer.advance(to: time(3))
        #expect(observer.takeActions() == [.send(.stateRequest(transfer: 0, part: 0))])
        observer.receiveReply(frame(first, epoch: 2, part(1, of: 11, 0, [2, 2])), at: time(4))
        observer.receiveReply(frame(first, epoch: 2, part(1, of: 11, 1, [2, 2])), at: time(4))
        #expect(observer.takeActions().last == .state(Seq(11), [2, 2, 2, 2]))
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
        #expect(observer.takeActions() == asked(1...8))
        observer.receiveReply(part(1), at: time(1))
        #expect(observer.takeActions() == asked(9...9))
        // The one after it is lost: those that come are of no use.
        for number in UInt64(3)...9 { observer.receiveReply(part(number), at: time(1)) }
        #expect(observer.takeActions() == [])
        observer.advance(to: time(2))
        #expect(observer.takeActions() == asked(2...9))
        for number in UInt64(2)...11 { observer.receiveReply(part(number), at: time(2)) }
        // Where the state ends is known when it does.
        #expect(observer.takeActions() == asked(10...18) + [.state(Seq(3), bytes)])
    }

    @Test mutating func `what an epoch has announced is not waited for where the next one has lost it`() {
        observer.receivePublished(frame(first, epoch: 1, .update(Seq(5), state: [1])), at: time(1))
        observer.receivePublished(frame(first, epoch: 1, .serverHeartbeat(Seq(9))), at: time(1))
        observer.advance(to: time(2))
        #expect(observer.takeActions() == [.state(Seq(5), [1]), .send(.stateRequest(transfer: 0, part: 0))])
        #expect(observer.standing(isHeard: true) == ObserverStanding(seq: Seq(5), isCurrent: false))
        // The journal ends at 5: what came after it was lost with the process.
        observer.receivePublished(frame(first, epoch: 2, .serverHeartbeat(Seq(5))), at: time(3))
        observer.advance(to: time(4))
        #expect(observer.takeActions() == [])
        #expect(observer.standing(isHeard: true) == ObserverStanding(seq: Seq(5), isCurrent: true))
    }

    @Test mutating func `an observer that is behind hears of the end after it has fetched the last state`() {
        observer.receivePublished(frame(first, epoch: 1, .update(Seq(1), state: [1])), at: time(1))
        observer.receivePublished(frame(first, epoch: 1, .ended(at: Seq(2), exitCode: 3, text: "done")), at: time(1))
        #expect(observer.takeActions() == [.state(Seq(1), [1]), .send(.stateRequest(transfer: 0, part: 0))])
        let last = StatePart(transfer: 1, seq: Seq(2), part: 0, end: .state, bytes: [2])
        observer.receiveReply(frame(first, epoch: 1, .statePart(last)), at: time(1))
        #expect(observer.takeActions() == [.state(Seq(2), [2])])
        // The follower of that state might have found that it does not fit.
        #expect(observer.deadline == time(1))
        #expect(observer.takeActions() == [.ended(exitCode: 3, text: "done")])
        #expect(observer.takeActions() == [])
    }

    @Test mutating func `an observer whose last state cannot be had in time hears of the end a second later, once`() {
        observer.receivePublished(frame(first, epoch: 1, .ended(at: Seq(2), exitCode: 0, text: "")), at: time(1))
        #expect(observer.takeActions() == [.send(.stateRequest(transfer: 0, part: 0))])
        observer.advance(to: time(2))
        #expect(
            observer.takeActions() == [.send(.stateRequest(transfer: 0, part: 0)), .ended(exitCode: 0, text: "")])
        // Who is still there is shown the state when it comes.
        let last = StatePart(transfer: 1, seq: Seq(2), part: 0, end: .state, bytes: [2])
        observer.receiveReply(frame(first, epoch: 1, .statePart(last)), at: time(3))
        #expect(observer.takeActions() == [.state(Seq(2), [2])])
        #expect(observer.takeActions() == [])
    }

    @Test func `an observer of rare updates asks for the last state as soon as it may`() {
        func time(_ milliseconds: Int) -> MonotonicTime { .zero + .milliseconds(milliseconds) }
        var observer = ObserverMachine(.updates(.full, interval: 5000), at: .zero)
        observer.advance(to: time(900))
        observer.receivePublished(frame(first, epoch: 1, .update(Seq(1), state: [1])), at: time(1000))
        observer.receivePublished(frame(first, epoch: 1, .ended(at: Seq(2), exitCode: 0, text: "")), at: time(1000))
        let request = ObserverAction.send(.stateRequest(transfer: 0, part: 0))
        #expect(observer.takeActions() == [request, .state(Seq(1), [1])])
        #expect(observer.deadline == time(1200))
        observer.advance(to: time(1200))
        #expect(observer.takeActions() == [request])
    }

    /// The journal may have lost it: a reducer that still has it says it again.
    @Test mutating func `an end that is not handed out is forgotten in a newer epoch`() {
        observer.receivePublished(frame(first, epoch: 1, .update(Seq(1), state: [1])), at: time(1))
        observer.receivePublished(frame(first, epoch: 1, .ended(at: Seq(3), exitCode: 0, text: "")), at: time(1))
        #expect(observer.takeActions().first == .state(Seq(1), [1]))
        observer.receivePublished(frame(first, epoch: 2, .serverHeartbeat(Seq(1))), at: time(1))
        #expect(observer.takeActions() == [])
        observer.advance(to: time(3))
        #expect(observer.takeActions() == [])
        observer.receivePublished(frame(first, epoch: 2, .ended(at: Seq(2), exitCode: 1, text: "")), at: time(3))
        observer.receivePublished(frame(first, epoch: 2, .update(Seq(2), state: [2])), at: time(3))
        #expect(observer.takeActions().last == .state(Seq(2), [2]))
        #expect(observer.takeActions() == [.ended(exitCode: 1, text: "")])
    }

    @Test mutating func `sixteen histories that were left are known as such`() {
        for number in UInt64(1)...17 {
            observer.receivePublished(frame(History(number), epoch: 1, .update(Seq(1), state: [1])), at: time(number))
        }
        _ = observer.takeActions()
        observer.receivePublished(frame(History(1), epoch: 1, .update(Seq(9), state: [9])), at: time(18))
        #expect(observer.takeActions() == [])
        #expect(observer.history == History(17))
    }

    @Test mutating func `a late frame of a history that was left does not lead back to it`() {
        observer.receivePublished(frame(first, epoch: 1, .update(Seq(34), state: [1])), at: time(1))
        observer.receivePublished(frame(second, epoch: 2, .update(Seq(34), state: [2])), at: time(2))
        #expect(observer.takeActions() == [.state(Seq(34), [1]), .state(Seq(34), [2])])
        observer.receivePublished(frame(first, epoch: 1, .serverHeartbeat(Seq(34))), at: time(3))
        observer.receivePublished(frame(first, epoch: 1, .update(Seq(35), state: [1])), at: time(3))
        observer.receivePublished(frame(second, epoch: 2, .update(Seq(34), state: [2])), at: time(3))
        #expect(observer.takeActions() == [])
    }

    @Test mutating func `a journal that was put back is followed when the other one has been silent for long`() {
        observer.receivePublished(frame(first, epoch: 1, .update(Seq(34), state: [1])), at: time(1))
        observer.receivePublished(frame(second, epoch: 2, .update(Seq(3), state: [2])), at: time(2))
        _ = observer.takeActions()
        // To stand still is not to hear nothing.
        observer.receivePublished(frame(first, epoch: 3, .update(Seq(34), state: [3])), at: time(60))
        #expect(observer.takeActions() == [])
        for second in 61..<75 { observer.advance(to: time(UInt64(second))) }
        observer.receivePublished(frame(first, epoch: 3, .update(Seq(34), state: [3])), at: time(75))
        #expect(observer.takeActions() == [])
        #expect(returned(to: first, epoch: 3, from: 76) == 82)
    }

    @Test mutating func `a frame of an epoch that was left never leads back to it`() {
        observer.receivePublished(frame(first, epoch: 1, .update(Seq(34), state: [1])), at: time(1))
        observer.receivePublished(frame(second, epoch: 1, .update(Seq(3), state: [2])), at: time(2))
        observer.receivePublished(frame(second, epoch: 2, .update(Seq(4), state: [3])), at: time(2))
        _ = observer.takeActions()
        for second in 3..<20 { observer.advance(to: time(UInt64(second))) }
        observer.receivePublished(frame(first, epoch: 1, .update(Seq(35), state: [1])), at: time(20))
        observer.receivePublished(frame(second, epoch: 1, .update(Seq(5), state: [2])), at: time(20))
        #expect(observer.takeActions() == [])
    }

    @Test mutating func `an older copy of the journal that goes on under fewer epochs is followed after a silence`() {
        observer.receivePublished(frame(first, epoch: 5, .update(Seq(34), state: [5])), at: time(1))
        _ = observer.takeActions()
        observer.receivePublished(frame(first, epoch: 3, .update(Seq(12), state: [3])), at: time(2))
        #expect(observer.takeActions() == [])
        for second in 3..<20 { observer.advance(to: time(UInt64(second))) }
        observer.receivePublished(frame(first, epoch: 3, .update(Seq(13), state: [3])), at: time(20))
        #expect(observer.takeActions() == [])
        #expect(returned(to: first, epoch: 3, from: 21) == 27)
    }

    @Test mutating func `an epoch that was left for a late frame is followed again when it goes on and on`() {
        observer.receivePublished(frame(second, epoch: 7, .update(Seq(3), state: [2])), at: time(1))
        // A history that was over before this observer began, and that it cannot know as such.
        observer.receivePublished(frame(first, epoch: 1, .update(Seq(34), state: [1])), at: time(2))
        _ = observer.takeActions()
        #expect(returned(to: second, epoch: 7, from: 3) == 19)
    }

    /// The second at which frames that come every second are followed.
    private mutating func returned(to history: History, epoch: UInt64, from begin: UInt64) -> UInt64? {
        for second in begin..<begin + 30 {
            observer.receivePublished(
                frame(history, epoch: epoch, .update(Seq(second), state: [2])), at: time(second))
            if !observer.takeActions().isEmpty { return second }
        }
        return nil
    }
}

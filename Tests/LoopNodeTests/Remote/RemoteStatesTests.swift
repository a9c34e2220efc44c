import CBOR
import LoopCluster
import LoopCollections
import LoopCore
import LoopWire
import Testing
import ZMQ

@testable import LoopNode

@Suite(.timeLimit(.minutes(5))) struct `What is known of a state elsewhere` {
    private let states = RemoteStates<Int>(
        StateFollower(Int.self), dependsOnTheLast: false, log: NodeLog(name: "test", .silent), advice: "")
    private let heard = Locked<[String]>([])

    @Test func `the newest state is the last that is told, also where it comes while the one before is told`() throws {
        try take(1)
        let id = states.look { [self] news in
            if case .state(_, 1, _) = news { onOtherThread { try take(2) } }
            hear(news)
        }
        #expect(heard.withLock { $0 } == ["1", "2"])
        states.lookAway(id)
        try take(3)
        #expect(heard.withLock { $0 } == ["1", "2"])
    }

    @Test func `a state that no caller looked at comes before those after it, and before the end`() throws {
        try take(1)
        _ = states.take(.again(Seq(2), try CBOR.encode(2)))
        try take(3)
        _ = states.take(.ended(exitCode: 0, text: "over"))
        _ = states.look(hear)
        #expect(heard.withLock { $0 } == ["3", "over"])
    }

    @Test func `a state that came whole is not shown after one that came in parts`() throws {
        try take(1)
        _ = states.take(.again(Seq(2), try CBOR.encode(2)))
        _ = states.look(hear)
        #expect(heard.withLock { $0 } == ["2"])
    }

    @Test func `a state of an earlier epoch or of another history is not the one that is wanted`() throws {
        func id(_ history: UInt64, epoch: UInt64, _ seq: UInt64) -> StateID {
            StateID(history: History(history), epoch: Epoch(number: epoch, nonce: 7), seq: Seq(seq))
        }
        func answer(_ wanted: StateID) -> String {
            switch states.answer(about: wanted) {
            case .reached(let id, let value): "\(value) at \(id.seq)"
            case .pending: "pending"
            case .elsewhere: "elsewhere"
            case .lost: "lost"
            }
        }
        _ = states.take(.begins(History(1), Epoch(number: 1, nonce: 7)))
        try take(20)
        #expect(answer(id(1, epoch: 1, 4)) == "20 at 20")
        #expect(answer(id(1, epoch: 2, 4)) == "pending")
        #expect(answer(id(2, epoch: 1, 4)) == "elsewhere")
        // The next epoch has that state.
        _ = states.take(.begins(History(1), Epoch(number: 2, nonce: 7)))
        #expect(answer(id(1, epoch: 2, 4)) == "pending")
        _ = states.take(.again(Seq(20), try CBOR.encode(20)))
        #expect(answer(id(1, epoch: 2, 4)) == "20 at 20")
        #expect(answer(id(1, epoch: 1, 21)) == "lost")
        _ = states.take(.begins(History(2), Epoch(number: 1, nonce: 7)))
        #expect(answer(id(2, epoch: 1, 4)) == "pending")
        #expect(answer(id(1, epoch: 1, 20)) == "lost")
        try take(4)
        #expect(answer(id(2, epoch: 1, 4)) == "4 at 4")
    }

    @Test(.timeLimit(.minutes(1)))
    func `a stream from a wanted state begins when the state that is shown gets that ID`() async throws {
        func id(_ epoch: UInt64, _ seq: UInt64) -> StateID {
            StateID(history: History(1), epoch: Epoch(number: epoch, nonce: 7), seq: Seq(seq))
        }
        _ = states.take(.begins(History(1), Epoch(number: 1, nonce: 7)))
        try take(20)
        let connection = try RemoteConnection(
            loop: "", reducer: "inproc://nowhere", name: "", context: ZMQContext(), log: .silent)
        let wanted = id(2, 20)
        var all = states.stream(.unbounded, keeping: connection) { ($0, $1) }.makeAsyncIterator()
        var past = states.stream(.unbounded, keeping: connection) { [states] in
            states.isPast(wanted, at: $0) ? ($0, $1) : nil
        }.makeAsyncIterator()
        // A restart of the reducer: the state is as before, in the next epoch.
        _ = states.take(.begins(History(1), Epoch(number: 2, nonce: 7)))
        _ = states.take(.again(Seq(20), try CBOR.encode(20)))
        try take(21)
        #expect(await past.next()?.0 == wanted)
        #expect(await past.next()?.0 == id(2, 21))
        // It is the same state, so it is not given twice.
        #expect(await all.next()?.0 == id(1, 20))
        #expect(await all.next()?.0 == id(2, 21))
    }

    private func take(_ number: Int) throws {
        _ = states.take(.state(Seq(UInt64(number)), try CBOR.encode(number)))
    }

    @Sendable private func hear(_ news: RemoteStates<Int>.News) {
        let text =
            switch news {
            case .state(_, let value, let isNew): isNew ? "\(value)" : "\(value) renamed"
            case .standing: "standing"
            case .ended(_, let text): text
            }
        heard.withLock { $0.append(text) }
    }

    /// Returns when the other thread has returned from `body`.
    private func onOtherThread(_ body: @escaping @Sendable () throws -> Void) {
        let isDone = Monitor(false)
        _ = try? NodeThread("other") {
            try? body()
            isDone.withLock { $0 = true }
            isDone.broadcast()
        }
        isDone.wait(until: { $0 }, then: { _ in })
    }
}

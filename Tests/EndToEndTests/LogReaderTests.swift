import Glibc
import LoopCore
import LoopNode
import LoopWire
import TestFolders
import Testing
import ZMQ

/// A reducer's log is for people, who may go away or stop reading: the loop goes on.
@Suite(.timeLimit(.minutes(2))) struct `A reducer whose log has no reader` {
    private let folder = TestFolder()
    private let address = ipcAddress()

    private func reducer(_ errors: ErrorPipe) throws -> ChildProcess {
        try errors.start(
            Executables.path("loop-reducer"), ["counter", "--bind", address.description, "--journal", "memory"])
    }

    /// Sends what no reducer can read: it says so in its log. A connection delivers in order, so the answer to
    /// the request shows that the garbage has been read. (A socket closed earlier would drop both.)
    private func sendGarbage() throws {
        var dealer = try Socket(.dealer, in: try ZMQContext())
        try dealer.connect(address.description)
        #expect(try dealer.send([1, 2, 3]) == .sent)
        #expect(try dealer.send(ToReducer.statusRequest.bytes(loop: LoopID(value: 0))) == .sent)
        var polls = PollSet()
        polls.add(dealer)
        var answer = Message()
        let deadline = SystemClock.monotonic + .seconds(20)
        while try !dealer.receive(into: &answer) {
            let now = SystemClock.monotonic
            guard now < deadline else { throw NodeError.noAnswer(address, after: .seconds(20)) }
            try polls.wait(milliseconds: SystemClock.milliseconds(from: now, until: deadline))
        }
    }

    @Test func `goes on serving when the reader has gone`() async throws {
        let errors = ErrorPipe(in: folder)
        let reducer = try reducer(errors)
        _ = try await status(of: address)
        errors.closeReader()
        try sendGarbage()
        _ = try await status(of: address) { $0.counters["malformedFrame"] == 1 }
        let report = try await status(of: address) { $0.counters["droppedLogLine"] ?? 0 > 0 }
        #expect(report.isReady)
        reducer.terminate()
        #expect(await reducer.wait(within: .seconds(20)) == .exited(0))
    }

    @Test func `starts, serves and stops while the reader does not read`() async throws {
        let errors = ErrorPipe(in: folder)
        errors.fill()
        let reducer = try reducer(errors)
        let report = try await status(of: address)
        #expect(report.isReady)
        reducer.terminate()
        #expect(await reducer.wait(within: .seconds(20)) == .exited(0))
    }
}

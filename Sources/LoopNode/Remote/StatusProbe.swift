import CBOR
import LoopCore
public import LoopWire
public import ZMQ

/// Asks a reducer of any loop how it is. Blocks; for tools and health checks.
public enum StatusProbe {
    /// - Parameters:
    ///   - reducer: the reducer to ask.
    ///   - limit: how long an answer may take.
    ///   - context: the context of the sockets; nil for the process's own.
    /// - Throws: `NodeError.noAnswer` when none came.
    public static func ask(
        _ reducer: ReducerAddress, within limit: Duration = .seconds(2), context: ZMQContext? = nil
    ) throws -> StatusReport {
        let context = try context ?? ZMQContext()
        var dealer = try reducer.connect(.questions, in: context)
        var polls = PollSet()
        polls.add(dealer)
        var message = Message()
        let deadline = SystemClock.monotonic + limit
        var asksAt = MonotonicTime.zero
        while true {
            let now = SystemClock.monotonic
            guard now < deadline else { throw NodeError.noAnswer(reducer, after: limit) }
            // A request that was read in a turn whose journal failed is gone with the turn: it is asked again.
            if now >= asksAt {
                _ = try dealer.send(ToReducer.statusRequest.bytes(loop: LoopID(value: 0)))
                asksAt = now + .milliseconds(500)
            }
            try polls.wait(milliseconds: SystemClock.milliseconds(from: now, until: min(asksAt, deadline)))
            while try dealer.receive(into: &message) {
                guard case .status(let document) = try PeerFrame(bytes: message.copy()[...]).message else { continue }
                return try CBOR.decode(StatusReport.self, from: document)
            }
        }
    }
}

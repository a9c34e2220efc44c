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
        var dealer = try DialledSocket(reducer, .questions, in: context)
        var polls = PollSet()
        _ = dealer.add(to: &polls)
        var message = Message()
        let deadline = SystemClock.monotonic + limit
        var asksAt = MonotonicTime.zero
        while true {
            let now = SystemClock.monotonic
            try dealer.readEvents(at: now)
            if case .notAdmitted? = dealer.obstacle, let obstacle = dealer.obstacle {
                throw NodeError.refused(obstacle.text)
            }
            guard now < deadline else {
                guard let obstacle = dealer.obstacle else { throw NodeError.noAnswer(reducer, after: limit) }
                throw NodeError.refused("no reducer answered at \(reducer) within \(limit): \(obstacle.text)")
            }
            // A request that was read in a turn whose journal failed is gone with the turn: it is asked again.
            if now >= asksAt {
                _ = try dealer.socket.send(ToReducer.statusRequest.bytes(loop: LoopID(value: 0)))
                asksAt = now + .milliseconds(500)
            }
            try polls.wait(
                milliseconds: SystemClock.milliseconds(from: now, until: min(asksAt, deadline, dealer.deadline)))
            while try dealer.socket.receive(into: &message) {
                switch try PeerFrame(bytes: message.copy()[...]).message {
                case .status(let document): return try CBOR.decode(StatusReport.self, from: document)
                case .refused(let refused): throw NodeError.refused(refused.description)
                default: continue
                }
            }
        }
    }
}

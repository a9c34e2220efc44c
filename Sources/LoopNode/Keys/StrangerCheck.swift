import LoopCore
import LoopKeys
import ZMQ

/// Connects to the reducer's own sockets with a key that is not admitted, and fails unless each of them refuses it.
enum StrangerCheck {
    private static let limit = Duration.seconds(5)

    /// - Throws: `NodeError.keys` if a socket does not refuse the key, or does not say so within 5 s.
    static func demandRefusal(
        by sockets: [(purpose: ClientSocket, address: ReducerAddress)], server: PublicKey, context: ZMQContext
    ) throws {
        for (purpose, address) in sockets {
            let keys = PeerKeys(own: try KeyPair(), reducer: server)
            var stranger = try DialledSocket(address.with(keys), purpose, in: context)
            var polls = PollSet()
            _ = stranger.add(to: &polls)
            try wait(&stranger, &polls, address)
        }
    }

    private static func wait(_ stranger: inout DialledSocket, _ polls: inout PollSet, _ address: ReducerAddress) throws
    {
        let ends = SystemClock.monotonic + limit
        while SystemClock.monotonic < ends {
            try polls.wait(milliseconds: 100)
            try stranger.readEvents(at: SystemClock.monotonic)
            if case .notAdmitted? = stranger.obstacle { return }
            if stranger.isConnected {
                throw NodeError.keys("\(address) has admitted a key that is not allowed; it does not start")
            }
        }
        throw NodeError.keys(
            "\(address) has not refused a key that is not allowed within \(limit); it does not start without that proof"
        )
    }
}

import LoopCluster
import LoopWire
import ZMQ

/// The socket on which a peer receives what a reducer publishes. There is one for each address, because only the socket shows
/// where a frame came from.
final class Listener {
    /// The address at which the peer greets the reducer.
    let place: String
    var socket: Socket
    let item: PollSet.Item

    init(
        at place: ReducerAddress, publisher endpoint: String, topics: [Topic], in context: ZMQContext,
        _ polls: inout PollSet
    ) throws(ZMQError) {
        var socket = try place.socket(.updates, in: context)
        try socket.connect(endpoint)
        for topic in topics { try socket.subscribe(topic.bytes) }
        self.place = place.description
        item = polls.add(socket)
        self.socket = socket
    }
}

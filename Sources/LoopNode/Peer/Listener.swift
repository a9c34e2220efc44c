import LoopCluster
import LoopWire
import ZMQ

/// The socket by which a peer hears what a reducer publishes. It has one for each address, since only the socket tells from where a
/// frame came.
final class Listener {
    /// The address that the reducer is greeted at.
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

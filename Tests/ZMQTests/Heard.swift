import LoopKeys
import ZMQ

/// What a server receives, and from whom.
struct Heard: Equatable {
    var text: String
    var key: PublicKey?
    var address: String?
    var role: String?
}

/// Says something as a client of a pattern does: a subscriber by its prefix.
func say(_ text: String, by socket: inout Socket) throws {
    if socket.kind == .sub { try socket.subscribe([UInt8](text)) } else { try deliver(text, by: &socket) }
}

/// Waits for what a client says.
func hear(_ socket: inout Socket) throws -> Heard {
    var message = Message()
    var text: String
    if socket.kind == .router {
        text = try nextRouted(&socket, into: &message).text
    } else {
        text = try next(&socket, into: &message)
    }
    if socket.kind == .xpub { text.removeFirst() }
    return Heard(
        text: text, key: message.peerKey, address: message.peerAddress, role: message.property("X-Role"))
}

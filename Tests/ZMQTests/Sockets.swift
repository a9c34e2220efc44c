import Testing
import ZMQ

/// Longer than anything here takes; a test that waits so long has failed.
let patienceMilliseconds = 10_000

extension [UInt8] {
    init(_ text: String) { self.init(text.utf8) }
    var text: String { String(decoding: self, as: UTF8.self) }
}

/// Waits for one message and returns its text.
func next(_ socket: inout Socket) throws -> String {
    var message = Message()
    while try !socket.receive(into: &message) {
        var set = PollSet()
        set.add(socket)
        try #require(try set.wait(milliseconds: patienceMilliseconds) == 1, "nothing arrived")
    }
    return message.copy().text
}

/// Waits for one message of a router and returns its sender and its text.
func nextRouted(_ socket: inout Socket) throws -> (peer: RoutingID, text: String) {
    var message = Message()
    var peer = RoutingID()
    while try !socket.receive(from: &peer, into: &message) {
        var set = PollSet()
        set.add(socket)
        try #require(try set.wait(milliseconds: patienceMilliseconds) == 1, "nothing arrived")
    }
    return (peer, message.copy().text)
}

/// Sends as soon as there is room.
func deliver(_ text: String, by socket: inout Socket) throws {
    while try socket.send([UInt8](text)) == .wouldBlock {
        var set = PollSet()
        set.add(socket, for: .writable)
        try #require(try set.wait(milliseconds: patienceMilliseconds) == 1, "no room to send")
    }
}

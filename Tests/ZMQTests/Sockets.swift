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
    return try next(&socket, into: &message)
}

func next(_ socket: inout Socket, into message: inout Message) throws -> String {
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
    return try nextRouted(&socket, into: &message)
}

func nextRouted(_ socket: inout Socket, into message: inout Message) throws -> (peer: RoutingID, text: String) {
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

/// Waits for one event.
func next(_ monitor: inout SocketMonitor) throws -> SocketEvent {
    while true {
        if let event = try monitor.next() { return event }
        var set = PollSet()
        set.add(monitor)
        try #require(try set.wait(milliseconds: patienceMilliseconds) == 1, "no event")
    }
}

/// Waits until a handshake fails. None may succeed before.
func nextFailure(_ monitor: inout SocketMonitor) throws -> SocketEvent.HandshakeFailure {
    while true {
        let event = try next(&monitor)
        try #require(event != .handshakeSucceeded)
        if case .handshakeFailed(let failure) = event { return failure }
    }
}

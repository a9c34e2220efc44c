// Unsafe: the watched socket is used only while its handle says that it is open.

internal import CZMQ
internal import Synchronization

/// Reports the events of one socket's connections, in order. It belongs to the thread of that socket, and may live longer.
///
/// Read it often. If too many events are unread, libzmq waits for the reader, and with it every connection of the context. A socket
/// has one monitor, and a later one ends the earlier.
package struct SocketMonitor: ~Copyable {
    private static let count = Atomic(0)

    private let watched: SocketHandle
    private var reader: Socket
    private let message = Message()

    /// Starts to watch. Create it before the socket is bound or connected, because it does not report earlier events.
    /// - Parameter eventsMax: how many events may wait to be read, at least 1. libzmq adds 1000 of its own.
    /// - Throws: ``ZMQError`` if there are too many sockets or files.
    package init(_ socket: borrowing Socket, eventsMax: Int = 65_536) throws(ZMQError) {
        var options = SocketOptions()
        options.receiveMessagesMax = eventsMax
        var reader = try Socket(.pair, in: socket.handle.context, options: options)
        let number = Self.count.add(1, ordering: .relaxed).newValue
        let endpoint = "inproc://loop-monitor-\(number)"
        // Connect before libzmq has an event, because it waits for a reader.
        try reader.connect(endpoint)
        let result = unsafe loopzmq_monitor(socket.raw, endpoint)
        if result < 0 { throw ZMQError(.monitor, code: -result) }
        watched = socket.handle
        watched.willTell(reader.handle)
        self.reader = reader
    }

    /// Stops the events before the reader closes, because libzmq would wait for it.
    deinit { watched.stopTelling(reader.handle) }

    /// Takes the next event if there is one, and never waits. ``PollSet`` does.
    /// - Throws: ``ZMQError``.
    package mutating func next() throws(ZMQError) -> SocketEvent? {
        while true {
            reader.handle.hidden = [.readable, .writable]
            guard let frames = try unsafe Multipart.receive(from: reader.raw, by: message, waits: false) else {
                return nil
            }
            if let event = SocketEvent(frames) { return event }
        }
    }

    var readerHandle: SocketHandle { reader.handle }
}

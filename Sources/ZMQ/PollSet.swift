internal import CZMQ
internal import Glibc

/// Several sockets and plain descriptors that one thread waits on. Prepared once, used each turn.
///
/// A socket that was closed meanwhile is no longer watched; a descriptor must stay open while it is in the set.
public struct PollSet: ~Copyable {
    /// Names one member of its set.
    public struct Item: Sendable, Hashable {
        let index: Int
    }

    private var items: [zmq_pollitem_t] = []
    /// The socket of each item, nil for descriptors.
    private var sockets: [SocketHandle?] = []

    public init() {}

    /// Watches a socket of this thread.
    @discardableResult
    public mutating func add(_ socket: borrowing Socket, for interest: Readiness = .readable) -> Item {
        append(zmq_pollitem_t(socket: socket.raw, fd: -1, events: interest.rawValue, revents: 0), socket.handle)
    }

    /// Watches a descriptor of the system: an eventfd, a pipe, a signalfd.
    @discardableResult
    public mutating func add(descriptor: Int32, for interest: Readiness = .readable) -> Item {
        append(zmq_pollitem_t(socket: nil, fd: descriptor, events: interest.rawValue, revents: 0), nil)
    }

    private mutating func append(_ item: zmq_pollitem_t, _ socket: SocketHandle?) -> Item {
        items.append(item)
        sockets.append(socket)
        return Item(index: items.count - 1)
    }

    /// Changes what is waited for; an empty set ignores the item until it is changed again.
    public mutating func watch(_ item: Item, for interest: Readiness) {
        items[item.index].events = interest.rawValue
        items[item.index].revents = 0
    }

    /// Forgets the item for good; its place stays, so the other items keep their names.
    public mutating func remove(_ item: Item) {
        items[item.index] = zmq_pollitem_t(socket: nil, fd: -1, events: 0, revents: 0)
        sockets[item.index] = nil
    }

    /// Waits until something is ready or the time is over; a signal does not shorten it.
    ///
    /// - Parameter milliseconds: 0 looks and returns at once, nil waits for ever.
    /// - Returns: how many items are ready.
    /// - Throws: ``ZMQError/isTerminated`` once the context of a watched socket was terminated.
    @discardableResult
    public mutating func wait(milliseconds: Int?) throws(ZMQError) -> Int {
        for index in items.indices {
            if let socket = sockets[index], socket.raw == nil { remove(Item(index: index)) }
        }
        var remaining = milliseconds.map { max(0, $0) } ?? -1
        let start = remaining > 0 ? monotonicMilliseconds() : 0
        while true {
            let result = items.withUnsafeMutableBufferPointer {
                loopzmq_poll($0.baseAddress, Int32($0.count), remaining)
            }
            if result >= 0 { return Int(result) }
            guard result == -EINTR else { throw ZMQError(.poll, code: -result) }
            if let milliseconds, remaining > 0 { remaining = max(0, milliseconds - (monotonicMilliseconds() - start)) }
        }
    }

    /// What the last ``wait(milliseconds:)`` found for an item.
    public func readiness(of item: Item) -> Readiness {
        Readiness(rawValue: items[item.index].revents)
    }

    /// Whether the last ``wait(milliseconds:)`` found something to receive.
    public func isReadable(_ item: Item) -> Bool { readiness(of: item).contains(.readable) }

    /// Whether the last ``wait(milliseconds:)`` found room to send.
    public func isWritable(_ item: Item) -> Bool { readiness(of: item).contains(.writable) }

    private func monotonicMilliseconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
}

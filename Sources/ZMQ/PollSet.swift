// Unsafe: the system uses what it is passed only during the call.

internal import CZMQ
internal import Glibc

/// A set of sockets and descriptors that one thread waits for. It is prepared once and used each turn.
///
/// It waits for the descriptors of the sockets in one system call. `zmq_poll` makes two calls for each socket before it sleeps, and
/// again when it wakes up. A descriptor shows only events since the last use of its socket (`ZMQ_FD` is edge-triggered). So the
/// thread checks the state of each used socket before it sleeps.
///
/// A closed socket is no longer watched. A descriptor must stay open while it is in the set.
package struct PollSet: ~Copyable {
    /// Names one member of a set.
    package struct Item: Sendable, Hashable {
        let index: Int
    }

    private struct Member {
        /// The socket, or nil for a descriptor.
        var socket: SocketHandle?
        var interest: Readiness
        var readiness: Readiness = []

        /// The events for which the member's descriptor is watched.
        var events: Int16 {
            if interest.isEmpty { return 0 }
            return socket == nil ? interest.systemEvents : Int16(POLLIN)
        }
    }

    private var members: [Member] = []
    /// The indices of removed members, which new members use again.
    private var free: [Int] = []
    /// The descriptors as `poll` takes them, with the same indices.
    private var descriptors: [pollfd] = []

    /// Creates an empty set.
    package init() {}

    /// Watches a socket of this thread.
    /// - Returns: the item that names the socket in this set.
    @discardableResult
    package mutating func add(_ socket: borrowing Socket, for interest: Readiness = .readable) -> Item {
        append(Member(socket: socket.handle, interest: interest), socket.handle.descriptor)
    }

    /// Watches for events of a socket of this thread.
    /// - Returns: the item that names the monitor in this set.
    @discardableResult
    package mutating func add(_ monitor: borrowing SocketMonitor) -> Item {
        append(Member(socket: monitor.readerHandle, interest: .readable), monitor.readerHandle.descriptor)
    }

    /// Watches a descriptor of the system: an eventfd, a pipe.
    /// - Returns: the item that names the descriptor in this set.
    @discardableResult
    package mutating func add(descriptor: Int32, for interest: Readiness = .readable) -> Item {
        append(Member(socket: nil, interest: interest), descriptor)
    }

    private mutating func append(_ member: Member, _ descriptor: Int32) -> Item {
        if let index = free.popLast() {
            members[index] = member
            descriptors[index] = pollfd(fd: descriptor, events: member.events, revents: 0)
            return Item(index: index)
        }
        members.append(member)
        descriptors.append(pollfd(fd: descriptor, events: member.events, revents: 0))
        return Item(index: members.count - 1)
    }

    /// Changes what the set waits for; an empty interest ignores the item until the next change.
    package mutating func watch(_ item: Item, for interest: Readiness) {
        members[item.index].interest = interest
        members[item.index].readiness = []
        descriptors[item.index].events = members[item.index].events
    }

    /// Stops watching the item. It may name another member from here on. The other items stay valid.
    package mutating func remove(_ item: Item) {
        members[item.index] = Member(socket: nil, interest: [])
        descriptors[item.index] = pollfd(fd: -1, events: 0, revents: 0)
        free.append(item.index)
    }

    /// Waits until an item is ready or the time is over. A signal does not shorten the wait.
    ///
    /// - Parameter milliseconds: 0 checks and returns at once; nil waits without limit.
    /// - Returns: the number of items that are ready.
    /// - Throws: ``ZMQError``.
    @discardableResult
    package mutating func wait(milliseconds: Int?) throws(ZMQError) -> Int {
        let ends = milliseconds.map { $0 > 0 ? monotonicMilliseconds() + $0 : 0 }
        while true {
            let isReady = try askUsed()
            let remaining = ends.map { $0 == 0 ? 0 : max(0, $0 - monotonicMilliseconds()) } ?? -1
            try sleep(milliseconds: isReady ? 0 : remaining)
            let count = try askShown()
            // The descriptor of a socket also shows events that the set does not wait for.
            if count > 0 || remaining == 0 { return count }
        }
    }

    /// Checks the sockets that were used since their last check. They may be ready although no descriptor shows it.
    /// - Returns: whether one is ready.
    private mutating func askUsed() throws(ZMQError) -> Bool {
        var isReady = false
        for index in members.indices {
            members[index].readiness = []
            // Another thread may use a socket that is not waited for.
            guard !members[index].interest.isEmpty, let socket = members[index].socket else { continue }
            if socket.isClosed {
                remove(Item(index: index))
            } else if !socket.hidden.isDisjoint(with: members[index].interest) {
                members[index].readiness = try socket.readiness().intersection(members[index].interest)
                isReady = isReady || !members[index].readiness.isEmpty
            }
        }
        return isReady
    }

    /// - Parameter milliseconds: a negative number waits without limit.
    private mutating func sleep(milliseconds: Int) throws(ZMQError) {
        let ends = milliseconds > 0 ? monotonicMilliseconds() + milliseconds : 0
        var remaining = milliseconds
        while unsafe poll(&descriptors, nfds_t(descriptors.count), Int32(clamping: remaining)) < 0 {
            guard errno == EINTR else { throw ZMQError(.poll, code: errno) }
            if milliseconds > 0 { remaining = max(0, ends - monotonicMilliseconds()) }
        }
    }

    /// Checks the sockets whose descriptors show something.
    /// - Returns: the number of ready items in the whole set.
    private mutating func askShown() throws(ZMQError) -> Int {
        var count = 0
        for index in members.indices {
            if descriptors[index].revents != 0, !members[index].interest.isEmpty {
                if let socket = members[index].socket {
                    members[index].readiness = try socket.readiness().intersection(members[index].interest)
                } else {
                    members[index].readiness = Readiness(shown: descriptors[index].revents)
                }
            }
            if !members[index].readiness.isEmpty { count += 1 }
        }
        return count
    }

    /// The readiness of an item, as the last ``wait(milliseconds:)`` found it.
    package func readiness(of item: Item) -> Readiness { members[item.index].readiness }

    /// Whether the last ``wait(milliseconds:)`` found a message, or bytes, to receive.
    package func isReadable(_ item: Item) -> Bool { readiness(of: item).contains(.readable) }

    /// Whether the last ``wait(milliseconds:)`` found space to send.
    package func isWritable(_ item: Item) -> Bool { readiness(of: item).contains(.writable) }
}

private func monotonicMilliseconds() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}

extension Readiness {
    fileprivate var systemEvents: Int16 {
        Int16((contains(.readable) ? POLLIN : 0) | (contains(.writable) ? POLLOUT : 0))
    }

    fileprivate init(shown events: Int16) {
        self = []
        let events = Int32(events)
        if events & POLLIN != 0 { insert(.readable) }
        if events & POLLOUT != 0 { insert(.writable) }
        if events & (POLLERR | POLLHUP | POLLNVAL) != 0 { insert(.failed) }
    }
}

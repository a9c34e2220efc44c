// Unsafe: the system uses what it is passed only during the call.

package import Glibc

/// Waits for descriptors.
package enum Poll {
    /// A descriptor with the events to wait for: `POLLIN`, `POLLOUT`. The system ignores an item without a descriptor.
    package static func item(_ descriptor: Int32?, _ events: Int32) -> pollfd {
        pollfd(fd: descriptor ?? -1, events: Int16(events), revents: 0)
    }

    /// Waits until an item is ready or the time is over. A signal ends the wait too.
    /// - Parameter milliseconds: the limit, or nil to wait without one.
    /// - Returns: the number of ready items, or nil if a signal has come or the wait failed, as `errno` says.
    @discardableResult
    package static func wait(_ items: inout [pollfd], milliseconds: Int32? = nil) -> Int? {
        let count = unsafe poll(&items, nfds_t(items.count), milliseconds ?? -1)
        return count < 0 ? nil : Int(count)
    }
}

internal import CPQ
internal import Glibc
internal import Linux

/// A time on the steady clock at which an operation must be done.
struct Deadline {
    private let nanoseconds: Int

    init(after limit: Duration) {
        let parts = limit.components
        nanoseconds = Self.now + Int(parts.seconds) * 1_000_000_000 + Int(parts.attoseconds / 1_000_000_000)
    }

    var isOver: Bool { Self.now >= nanoseconds }

    private static var now: Int {
        let time = System.bootTime
        return time.seconds * 1_000_000_000 + time.nanoseconds
    }

    /// Waits until the descriptor is ready.
    /// - Returns: false if the deadline came first, or if there is no descriptor.
    func wait(for descriptor: Int32, _ events: Int32) -> Bool {
        guard descriptor >= 0 else { return false }
        while true {
            var items = [Poll.item(descriptor, events)]
            let left = nanoseconds - Self.now
            // Rounded up, so that a very short remaining time makes no busy loop.
            if let count = Poll.wait(&items, milliseconds: Int32(clamping: max(0, (left + 999_999) / 1_000_000))),
                count > 0
            {
                return true
            }
            if isOver { return false }
        }
    }
}

internal import Glibc
internal import LoopLock

/// Things that are due later, and the one thread that lets them go.
final class DelayLine: Sendable {
    /// Lets go a thing whose time has come. Called on the line's thread.
    typealias Release = @Sendable (OpaquePointer) -> Void

    private struct Waiting {
        var due: ContinuousClock.Instant
        // Connections belong to libmicrohttpd; here they are only carried.
        nonisolated(unsafe) var thing: OpaquePointer
    }

    private struct State {
        /// The latest first, so that the next one is the last.
        var waiting: [Waiting] = []
        var hasNewFirst = false
        var isClosed = false
    }

    private let state = Monitor(State())
    private let release: Release
    private let thread = Locked<pthread_t?>(nil)

    init(release: @escaping Release) {
        self.release = release
    }

    /// Lets `thing` go after `delay`; at once when the line is closed.
    func add(_ thing: OpaquePointer, after delay: Duration) {
        startOnce()
        let waiting = Waiting(due: ContinuousClock.now + delay, thing: thing)
        let (isTaken, isFirst) = state.withLock { state in
            guard !state.isClosed else { return (false, false) }
            let place = state.waiting.partitioningIndex { $0.due <= waiting.due }
            state.waiting.insert(waiting, at: place)
            let isFirst = place == state.waiting.count - 1
            if isFirst { state.hasNewFirst = true }
            return (true, isFirst)
        }
        if !isTaken { release(thing) }
        if isFirst { state.signal() }
    }

    /// Lets everything go at once, now and from now on, and ends the thread.
    func close() {
        state.withLock { $0.isClosed = true }
        state.broadcast()
        if let thread = thread.withLock({ $0.take() }) { pthread_join(thread, nil) }
    }

    private func startOnce() {
        thread.withLock { thread in
            guard thread == nil else { return }
            var handle = pthread_t()
            let line = Unmanaged.passRetained(self)
            let result = pthread_create(
                &handle, nil,
                { line in
                    Unmanaged<DelayLine>.fromOpaque(line!).takeRetainedValue().run()
                    return nil
                }, line.toOpaque())
            precondition(result == 0, "could not start the thread of a delay line: errno \(result)")
            thread = handle
        }
    }

    private func run() {
        while true {
            let wait = state.withLock { state in
                state.hasNewFirst = false
                return state.waiting.last.map { ContinuousClock.now.duration(to: $0.due) } ?? .seconds(3600)
            }
            _ = state.wait(until: { $0.isClosed || $0.hasNewFirst }, timeout: wait)
            let (due, isClosed) = state.withLock { state in
                let now = ContinuousClock.now
                let first = state.isClosed ? 0 : state.waiting.partitioningIndex { $0.due <= now }
                let due = Array(state.waiting[first...])
                state.waiting.removeSubrange(first...)
                return (due, state.isClosed)
            }
            for waiting in due.reversed() { release(waiting.thing) }
            if isClosed { return }
        }
    }
}

extension Array {
    /// Where `belongs` begins to hold, in an array in which it holds for none and then for all.
    fileprivate func partitioningIndex(where belongs: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if belongs(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

import LoopCollections
import Observation

/// What happened, in order, from any thread; a test can wait for it.
final class Log<Entry: Sendable>: Sendable {
    private struct State {
        var entries: [Entry] = []
        var waiting: [(count: Int, CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    var entries: [Entry] { state.withLock { $0.entries } }

    func add(_ entry: Entry) {
        let ready = state.withLock { state in
            state.entries.append(entry)
            let count = state.entries.count
            let ready = state.waiting.filter { $0.count <= count }.map(\.1)
            state.waiting.removeAll { $0.count <= count }
            return ready
        }
        for one in ready { one.resume() }
    }

    /// Waits until the last entry is as wanted.
    func hasLast(_ isWanted: (Entry) -> Bool) async {
        while true {
            let entries = entries
            if let last = entries.last, isWanted(last) { return }
            await reaches(entries.count + 1)
        }
    }

    /// Waits until there are a number of entries.
    func reaches(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.entries.count >= count { return true }
                state.waiting.append((count, continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
    }
}

/// Waits until what is read, which must be observable, is as wanted.
func until<Value: Sendable>(
    _ read: @escaping @Sendable () -> Value, _ isWanted: @escaping @Sendable (Value) -> Bool
) async {
    while true {
        let (changes, change) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let value = withObservationTracking(read) { _ = change.yield() }
        if isWanted(value) { return }
        for await _ in changes { break }
    }
}

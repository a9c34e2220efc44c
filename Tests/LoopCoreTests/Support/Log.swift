import LoopCollections

/// What happened, line by line, from any thread; a test can wait for a line.
final class Log: Sendable {
    private struct Content: Sendable {
        var lines: [String] = []
        var waiters: [(line: String, count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let content = Locked(Content())

    var lines: [String] { content.withLock { $0.lines } }

    func add(_ line: String) {
        let ready = content.withLock { content -> [CheckedContinuation<Void, Never>] in
            content.lines.append(line)
            let lines = content.lines
            let isReady = { (line: String, count: Int) in lines.count(where: { $0 == line }) >= count }
            let ready = content.waiters.filter { isReady($0.line, $0.count) }.map(\.continuation)
            content.waiters.removeAll { isReady($0.line, $0.count) }
            return ready
        }
        for continuation in ready { continuation.resume() }
    }

    /// Returns once a line is there, that many times.
    func wait(for line: String, count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isReady = content.withLock { content in
                if content.lines.count(where: { $0 == line }) >= count { return true }
                content.waiters.append((line, count, continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
    }
}

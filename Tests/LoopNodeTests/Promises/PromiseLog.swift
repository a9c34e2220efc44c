import LoopCollections

/// What happened, line by line, from any thread; a test can wait for a line.
final class PromiseLog: Sendable {
    private struct Waiter: Sendable {
        var line: String
        var count: Int
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct Content: Sendable {
        var lines: [String] = []
        var waiters: [Waiter] = []

        func has(_ line: String, _ count: Int) -> Bool { lines.count { $0 == line } >= count }
    }

    private let content = Locked(Content())

    var lines: [String] { content.withLock { $0.lines } }

    /// What the lines that begin with a word say.
    func said(_ word: String) -> [String] {
        lines.filter { $0.hasPrefix(word + " ") }.map { String($0.dropFirst(word.count + 1)) }
    }

    func add(_ line: String) {
        let ready = content.withLock { content -> [Waiter] in
            content.lines.append(line)
            let all = content.waiters
            content.waiters = all.filter { !content.has($0.line, $0.count) }
            return all.filter { content.has($0.line, $0.count) }
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    /// Returns once a line is there, that many times.
    func wait(for line: String, count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = content.withLock { content in
                if content.has(line, count) { return true }
                content.waiters.append(Waiter(line: line, count: count, continuation: continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}

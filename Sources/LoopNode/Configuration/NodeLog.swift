import LoopCore
import LoopLock

/// One line for people on standard error, and no more than one a second for each peer and kind of trouble (G11).
struct NodeLog: Sendable {
    private struct Seen {
        var lastAt: [String: MonotonicTime] = [:]
        var suppressed: [String: Int] = [:]
    }

    let name: String
    private let write: @Sendable (String) -> Void
    private let seen = Locked(Seen())

    init(name: String, write: @escaping @Sendable (String) -> Void) {
        self.name = name
        self.write = write
    }

    func note(_ text: String) { write(PrintableText.line("\(name): \(text)")) }

    func malformed(_ peer: String, _ error: any Error) {
        once(a: "malformed " + peer, "dropped a frame from \(peer): \(error)")
    }

    /// The line, unless one of its kind was written within the last second; then it is counted.
    func once(a kind: String, _ text: String) {
        let now = SystemClock.monotonic
        let suppressed: Int? = seen.withLock { seen in
            if let last = seen.lastAt[kind], now - last < .seconds(1) {
                seen.suppressed[kind, default: 0] += 1
                return nil
            }
            if seen.lastAt.count > 1024 { seen.lastAt.removeAll() }
            seen.lastAt[kind] = now
            return seen.suppressed.removeValue(forKey: kind) ?? 0
        }
        guard let suppressed else { return }
        note(suppressed == 0 ? text : "\(text) (and \(suppressed) more like it)")
    }
}

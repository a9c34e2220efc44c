import LoopCore

/// Decides which events of a log are written, where peers can cause as many as they like (G11): of each kind one a second for each
/// peer, and a bounded number a second for all peers together. What is left out is counted, and told later. A pure machine.
struct LogLimiter: Equatable {
    /// What is limited on its own.
    struct Key: Hashable {
        let kind: LogKind
        /// Empty where the kind has no peers.
        let peer: String
    }

    /// Events of a kind that were left out in a second that is over, because there were too many peers.
    struct LeftOut: Equatable {
        let kind: LogKind
        /// How much the most important of them mattered.
        let level: LogLevel
        let count: Int
    }

    /// One second of one kind.
    private struct Window: Equatable {
        let began: MonotonicTime
        var writtenCount = 0
        var leftOutCount = 0
        var level = LogLevel.debug
    }

    private struct Seen: Equatable {
        var at: MonotonicTime
        /// How many were left out since.
        var suppressed = 0
    }

    private var seen: [Key: Seen] = [:]
    private var windows: [LogKind: Window] = [:]
    /// Whether a window has something to tell.
    private(set) var hasLeftOut = false

    /// How many peers are remembered.
    var peerCount: Int { seen.count }

    static let interval = Duration.seconds(1)
    /// How many events of a kind are written in a second.
    static let writtenMax = 32
    private static let seenMax = 1024

    /// Judges an event. What ``takeLeftOut(at:)`` returns comes before it.
    /// - Returns: how many like it were left out since the last one of its peer; nil: it is left out too.
    mutating func judge(_ key: Key, _ level: LogLevel, at now: MonotonicTime) -> Int? {
        if let last = seen[key], now - last.at < Self.interval {
            seen[key]?.suppressed += 1
            return nil
        }
        var window = windows[key.kind] ?? Window(began: now)
        if now - window.began >= Self.interval, window.leftOutCount == 0 { window = Window(began: now) }
        defer { windows[key.kind] = window }
        guard window.writtenCount < Self.writtenMax else {
            window.leftOutCount += 1
            window.level = max(window.level, level)
            hasLeftOut = true
            return nil
        }
        window.writtenCount += 1
        if seen.count >= Self.seenMax { seen = seen.filter { now - $0.value.at < Self.interval } }
        return seen.updateValue(Seen(at: now), forKey: key)?.suppressed ?? 0
    }

    /// What was left out in seconds that are over.
    /// - Parameter now: nil: there will be no more events, so that the present second is over too.
    mutating func takeLeftOut(at now: MonotonicTime?) -> [LeftOut] {
        guard hasLeftOut else { return [] }
        var all: [LeftOut] = []
        hasLeftOut = false
        for kind in LogKind.allCases {
            guard let window = windows[kind], window.leftOutCount > 0 else { continue }
            if let now, now - window.began < Self.interval {
                hasLeftOut = true
                continue
            }
            windows[kind] = nil
            all.append(LeftOut(kind: kind, level: window.level, count: window.leftOutCount))
        }
        return all
    }
}

extension LogLimiter.LeftOut {
    /// For people.
    var text: String {
        let (peers, have, are) = count == 1 ? ("peer", "has", "is") : ("peers", "have", "are")
        let what =
            switch kind {
            case .joined: "\(peers) \(have) joined"
            case .left: "\(peers) \(have) left"
            case .lost: "\(peers) \(are) silent"
            case .reconnected: "\(peers) \(are) heard again"
            default: count == 1 ? "event of the kind \(kind.rawValue)" : "events of the kind \(kind.rawValue)"
            }
        return "and \(count) more \(what) in the last second"
    }
}

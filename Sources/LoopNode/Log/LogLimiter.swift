import LoopCore

/// Decides which events of a log are written if peers can cause any number of them (G11). For each kind, a peer has one a
/// second, and all peers together a bounded number a second. What is left out is counted and reported later. A pure machine.
struct LogLimiter: Equatable {
    /// The kind and peer that are limited together.
    struct Key: Hashable {
        let kind: LogKind
        /// The peer, or the feedback of an effect; empty if the kind has neither.
        let peer: String
    }

    /// Events of a kind that were left out in an earlier second because too many peers caused them.
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
    /// Whether a window has left out events that are not reported yet.
    private(set) var hasLeftOut = false

    /// How many peers are remembered.
    var peerCount: Int { seen.count }

    static let interval = Duration.seconds(1)
    /// How many events of a kind are written in a second.
    static let writtenMax = 32
    private static let seenMax = 1024

    /// Decides about one event. Call ``takeLeftOut(at:)`` before it, and write what that returns first.
    /// - Returns: how many similar events were left out since the last one of its peer, or nil if this one is left out too.
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

    /// Takes what was left out in earlier seconds.
    /// - Parameter now: the present time, or nil if no more events follow, so that the present second counts as over.
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
    /// The line for people.
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

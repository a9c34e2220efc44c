import LoopCore

/// Events per second over a run, from samples of the seq.
struct Throughput: Equatable, Sendable {
    /// Events applied between the first and the last sample.
    let events: UInt64
    /// Seconds between the two.
    let seconds: Double
    /// The longest time until a sample shows new events: at least as long as the real pause.
    let longestGap: Duration
    /// How many windows without a fault of the reducer were judged, and the events per second of the slowest.
    let windows: Int
    let slowestWindow: Double?

    static let windowLength = Duration.seconds(5)
    /// How long after a fault the reducer may still be catching up.
    static let recovery = Duration.milliseconds(1000)

    var perSecond: Double { seconds > 0 ? Double(events) / seconds : 0 }

    /// - Parameters:
    ///   - samples: the samples in the order of time. The seq begins again with another history.
    ///   - calm: spans without a fault of the reducer's process.
    init(_ samples: [StatusSample], calm: [Range<Duration>]) {
        var total: UInt64 = 0
        var curve: [(at: Duration, events: UInt64)] = []
        var previous: StatusSample?
        var gap = Duration.zero
        var changedAt = samples.first?.at ?? .zero
        for sample in samples {
            // A reducer that does not know yet that another one leads.
            if let previous, previous.history == sample.history, sample.seq < previous.seq { continue }
            var more = sample.seq
            if let previous, previous.history == sample.history {
                more = sample.seq - previous.seq
            } else if previous == nil {
                more = 0
            }
            total += more
            gap = max(gap, sample.at - changedAt)
            if more > 0 { changedAt = sample.at }
            curve.append((sample.at, total))
            previous = sample
        }
        events = total
        seconds = samples.isEmpty ? 0 : ((samples.last?.at ?? .zero) - (samples.first?.at ?? .zero)).inSeconds
        longestGap = gap
        var windows = 0
        var slowest: Double?
        for span in calm {
            let from = span.lowerBound + Self.recovery
            for (index, start) in curve.enumerated() where start.at >= from {
                guard let end = curve[index...].first(where: { $0.at - start.at >= Self.windowLength }) else { break }
                guard end.at <= span.upperBound else { break }
                windows += 1
                let rate = Double(end.events - start.events) / (end.at - start.at).inSeconds
                slowest = min(slowest ?? rate, rate)
            }
        }
        self.windows = windows
        slowestWindow = slowest
    }
}

extension Throughput {
    /// The time from each start of the reducer to the first sample with a new event. Lives that ended before are skipped.
    /// The precision is the distance of the samples.
    static func returns(after lives: [Range<Duration>], _ samples: [StatusSample]) -> [Duration] {
        lives.compactMap { life in
            let before = samples.last { $0.at <= life.lowerBound }?.seq ?? 0
            let first = samples.first { life.contains($0.at) && $0.seq > before }
            return first.map { $0.at - life.lowerBound }
        }.sorted()
    }
}

extension Evidence {
    /// The events per second while things went wrong.
    var throughput: Throughput {
        Throughput(samples.filter { $0.at >= .zero && $0.at <= schedule.duration }, calm: schedule.calm)
    }
}

extension Check {
    static let eventsPerSecondMin = 50.0

    /// The least number of events per second overall, and in every window without a fault of the reducer.
    static let throughput = Check(name: "at least 50 events a second") { evidence in
        let throughput = evidence.throughput
        var found: [String] = []
        if evidence.schedule.servers > 0 {
            // With faults all the time, only progress counts.
            if throughput.longestGap > ChaosPlan.pauseMax {
                found.append("\(throughput.longestGap.shown) without a new event")
            }
            if throughput.events == 0 { found.append("no event was seen") }
            return found
        }
        if throughput.perSecond < eventsPerSecondMin {
            found.append("\(throughput.perSecond.shown) events a second on the whole")
        }
        if throughput.windows == 0 { found.append("no window without faults of the reducer was sampled") }
        if let slowest = throughput.slowestWindow, slowest < eventsPerSecondMin {
            found.append("\(slowest.shown) events a second in a window in which nothing happened to the reducer")
        }
        return found
    }
}

extension Double {
    /// The number with one decimal digit.
    var shown: String {
        guard isFinite, magnitude < 1e15 else { return "\(self)" }
        let tenths = Int((self * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))"
    }
}

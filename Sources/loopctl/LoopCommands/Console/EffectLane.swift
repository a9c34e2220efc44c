import LoopCore
import LoopView
import LoopWire

/// One effect from its request to its end, as the journal has it.
///
/// Grants and ends have no time of their own in the journal. Theirs is that of the newest event before them.
struct EffectLane: Equatable, Sendable {
    enum Phase: Equatable, Sendable {
        /// It waits for a worker, a limit or its next try.
        case waits
        /// An attempt runs, on the worker of this session if it is known.
        case runs(session: UInt64?)
    }

    struct Span: Equatable, Sendable {
        var phase: Phase
        /// In milliseconds since 1970.
        var from: Int64
        /// Nil while it lasts.
        var to: Int64?
    }

    let effect: EffectID
    private(set) var spans: [Span] = []
    /// How many attempts were granted.
    private(set) var attempts = 0
    /// The time of its newest record.
    private var last: Int64 = 0
    /// How it has ended, in a word, or nil if it is live, or if that is not known.
    private(set) var end: String?

    /// The lanes of all effects that records name, in the order of the effects' IDs.
    /// - Parameters:
    ///   - records: the records in the order of the journal.
    ///   - live: the effects that are live, or nil if that is not known. The journal has no record for the end of an effect with its
    ///     last event, or for a cancellation.
    static func lanes(of records: [HistoryRecord], live: Set<EffectID>?) -> [EffectLane] {
        var lanes: [EffectID: EffectLane] = [:]
        var time = records.lazy.compactMap(\.time).first ?? 0
        var times: [UInt64: Int64] = [:]
        for record in records {
            time = record.time ?? time
            if record.kind == "event" { times[record.seq] = time }
            let others =
                record.kind == "granted" ? record.note?.split { $0 == " " || $0 == "," }.map(String.init) ?? [] : []
            for name in (record.effect.map { [$0] } ?? []) + others {
                guard let effect = EffectID(name) else { continue }
                var lane = lanes[effect] ?? EffectLane(effect: effect)
                if lane.spans.isEmpty {
                    lane.spans = [Span(phase: .waits, from: times[effect.seq.value] ?? time, to: nil)]
                }
                lane.take(record, at: time)
                lanes[effect] = lane
            }
        }
        return lanes.values.map { $0.ended(unlessIn: live) }.sorted { $0.effect < $1.effect }
    }

    private init(effect: EffectID) { self.effect = effect }

    private func ended(unlessIn live: Set<EffectID>?) -> EffectLane {
        var lane = self
        if let live, end != Self.completed, !live.contains(effect) { lane.close(at: last, "ended") }
        return lane
    }

    private mutating func take(_ record: HistoryRecord, at time: Int64) {
        last = time
        switch record.kind {
        case "granted":
            attempts += 1
            // A parked effect may be retried by an operator.
            end = nil
            begin(.runs(session: nil), at: time)
        case "event":
            if case .runs(nil) = spans.last?.phase { spans[spans.count - 1].phase = .runs(session: record.session) }
        case "completed":
            if case .runs(nil) = spans.last?.phase { spans[spans.count - 1].phase = .runs(session: record.session) }
            close(at: time, Self.completed)
        case "attempt ended":
            if case .runs(nil) = spans.last?.phase { spans[spans.count - 1].phase = .runs(session: record.session) }
            // Only an effect that is tried again has a time for that.
            if record.retryAt == nil { close(at: time, "parked") } else { begin(.waits, at: time) }
        default: break
        }
    }

    private mutating func begin(_ phase: Phase, at time: Int64) {
        if !spans.isEmpty { spans[spans.count - 1].to = time }
        spans.append(Span(phase: phase, from: time, to: nil))
    }

    private static let completed = "completed"

    private mutating func close(at time: Int64, _ word: String) {
        spans[spans.count - 1].to = spans[spans.count - 1].to ?? time
        end = word
    }

    /// The milliseconds that it has spent in waiting and in running, up to a time.
    func spent(until now: Int64) -> (waiting: Int64, running: Int64) {
        spans.reduce(into: (0, 0)) { sum, span in
            let length = max(0, (span.to ?? now) - span.from)
            if span.phase == .waits { sum.0 += length } else { sum.1 += length }
        }
    }

    /// The lane as blocks on a scale, each with its colour.
    func blocks(from start: Int64, to now: Int64, columns: Int) -> [(text: String, tone: Tone)] {
        let length = max(now - start, 1)
        func column(_ time: Int64) -> Int { Int(max(0, min(time, now) - start) * Int64(columns) / length) }
        var blocks: [(text: String, tone: Tone)] = []
        var place = 0
        for span in spans {
            let (from, to) = (column(span.from), max(column(span.to ?? now), column(span.from) + 1))
            if from > place { blocks.append((String(repeating: "\u{A0}", count: from - place), .plain)) }
            guard to > max(from, place) else { continue }
            let count = to - max(from, place)
            switch span.phase {
            case .waits: blocks.append((String(repeating: "·", count: count), .secondary))
            case .runs(let session): blocks.append((String(repeating: "█", count: count), Self.tone(of: session)))
            }
            place = to
        }
        return blocks
    }

    /// Workers have the colours in turn.
    private static func tone(of session: UInt64?) -> Tone {
        let tones: [Tone] = [.accent, .good, .warning, .bad]
        return session.map { tones[Int($0 % UInt64(tones.count))] } ?? .plain
    }
}

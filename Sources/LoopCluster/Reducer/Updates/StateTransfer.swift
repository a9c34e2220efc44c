import LoopCore
import LoopWire

/// A state that observers fetch in parts, while other threads encode its chunks and when they have.
struct StateTransfer: Sendable {
    let id: UInt64
    /// Nil: all of the state.
    let section: Int?
    let form: StateForm
    /// The stream of deltas that it is for; nil: none in particular.
    let stream: UpdateStream?
    let seq: Seq
    let madeAt: MonotonicTime
    var usedAt: MonotonicTime
    /// The one that encodes its next chunks.
    var job: UInt64?
    private(set) var isComplete = false
    private(set) var byteCount = 0
    private var chunks: [[UInt8]] = []
    private var parts: [Part] = []
    /// When each observer that fetches the state, and was not sent its last part, asked last.
    private var followers: [Route: MonotonicTime] = [:]
    /// Who is to get parts that are not encoded yet, by part.
    private var waiting: [UInt64: [Route]] = [:]

    /// A part is of one chunk, and no longer than a message.
    private struct Part {
        let chunk: Int
        let range: Range<Int>
        let end: StatePart.End
    }

    init(
        id: UInt64, section: Int?, form: StateForm, stream: UpdateStream?, seq: Seq, madeAt: MonotonicTime,
        usedAt: MonotonicTime
    ) {
        (self.id, self.section, self.form, self.stream, self.seq) = (id, section, form, stream, seq)
        (self.madeAt, self.usedAt) = (madeAt, usedAt)
    }

    /// The next chunks.
    /// - Parameter isComplete: whether they are the last.
    mutating func add(_ new: [[UInt8]], partBytes: Int, isComplete: Bool) {
        for (index, chunk) in new.enumerated() {
            let end = isComplete && index == new.count - 1 ? StatePart.End.state : .chunk
            var start = 0
            repeat {
                let range = start..<min(start + partBytes, chunk.count)
                parts.append(
                    Part(chunk: chunks.count, range: range, end: range.upperBound < chunk.count ? .nothing : end))
                start = range.upperBound
            } while start < chunk.count
            chunks.append(chunk)
            byteCount += chunk.count
        }
        self.isComplete = isComplete
    }

    // MARK: Followers

    /// The time until which the transfer counts as under way if no part is asked for, or nil if no observer fetches it. A live observer
    /// asks again before that time.
    var underWayUntil: MonotonicTime? { followers.values.max().map { $0 + Self.silenceLimit } }

    private static var silenceLimit: Duration { .seconds(2) }

    /// An observer has begun another transfer.
    mutating func leave(_ route: Route) { followers[route] = nil }

    /// Takes the part that an observer has asked for.
    /// - Returns: the part, or nil if it is not encoded yet, or if there is none.
    mutating func take(_ number: UInt64, for route: Route, at now: MonotonicTime) -> StatePart? {
        usedAt = now
        let part = part(number)
        if part?.end == .state {
            followers[route] = nil
        } else if part != nil || !isComplete {
            followers[route] = now
        }
        return part
    }

    /// Nil: it is not encoded yet, or there is none.
    private func part(_ number: UInt64) -> StatePart? {
        guard number < parts.count else { return nil }
        let part = parts[Int(number)]
        let chunk = chunks[part.chunk]
        return StatePart(
            transfer: id, seq: seq, part: number, end: part.end,
            bytes: part.range.count == chunk.count ? chunk : Array(chunk[part.range]))
    }

    // MARK: Who waits

    /// Who asks for a part again before it is encoded is answered once.
    /// - Parameter max: how many may wait for one part; others ask again.
    mutating func wait(for part: UInt64, _ route: Route, atMost max: Int) {
        // Who follows asks for some parts ahead of what has come.
        guard !isComplete, part < parts.count + 64 else { return }
        let routes = waiting[part, default: []]
        if routes.count < max, !routes.contains(route) { waiting[part, default: []].append(route) }
    }

    /// The parts that were waited for and are here, and for whom, in order.
    mutating func takeWaiting() -> [(part: UInt64, route: Route)] {
        let ready = waiting.keys.filter { isComplete || $0 < parts.count }.sorted()
        return ready.flatMap { part in (waiting.removeValue(forKey: part) ?? []).map { (part, $0) } }
    }

    /// The observers that wait, each once, with the transfer as it names it: 0 before the first part has come.
    var askers: [(route: Route, transfer: UInt64)] {
        var askers: [(route: Route, transfer: UInt64)] = []
        for part in waiting.keys.sorted(by: >) {
            for route in waiting[part] ?? [] where !askers.contains(where: { $0.route == route }) {
                askers.append((route, part == 0 ? 0 : id))
            }
        }
        return askers
    }
}

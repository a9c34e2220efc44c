import LoopCore
import LoopWire

/// A state that observers fetch in parts, while and after other threads encode its chunks.
struct StateTransfer: Sendable {
    let id: UInt64
    /// The position of its section in the definition, or nil for the whole state.
    let section: Int?
    let form: StateForm
    /// The stream of deltas that it serves, or nil if it serves none in particular.
    let stream: UpdateStream?
    let seq: Seq
    let madeAt: MonotonicTime
    var usedAt: MonotonicTime
    /// The number of the job that encodes its next chunks.
    var job: UInt64?
    private(set) var isComplete = false
    private(set) var byteCount = 0
    private var chunks: [[UInt8]] = []
    private var parts: [Part] = []
    /// When each observer that fetches the state last asked. One that got its last part is not listed.
    private var followers: [Route: MonotonicTime] = [:]
    /// The observers that wait for parts that are not encoded yet, by part.
    private var waiting: [UInt64: [Route]] = [:]

    /// A part belongs to one chunk, and is no longer than a message.
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

    /// Adds the next chunks.
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

    /// The time until which the transfer counts as under way, or nil if no observer fetches it. A live observer asks for a part
    /// before that time.
    var underWayUntil: MonotonicTime? { followers.values.max().map { $0 + Self.silenceLimit } }

    private static var silenceLimit: Duration { .seconds(2) }

    /// Removes an observer that has begun another transfer.
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

    /// The part with a number, or nil if it is not encoded yet or does not exist.
    private func part(_ number: UInt64) -> StatePart? {
        guard number < parts.count else { return nil }
        let part = parts[Int(number)]
        let chunk = chunks[part.chunk]
        return StatePart(
            transfer: id, seq: seq, part: number, end: part.end,
            bytes: part.range.count == chunk.count ? chunk : Array(chunk[part.range]))
    }

    // MARK: Waiting observers

    /// Lets an observer wait for a part that is not encoded yet. If it asks again before, it is still answered once.
    /// - Parameter max: how many may wait for one part. Others have to ask again.
    mutating func wait(for part: UInt64, _ route: Route, atMost max: Int) {
        // An observer asks for some parts in advance.
        guard !isComplete, part < parts.count + 64 else { return }
        let routes = waiting[part, default: []]
        if routes.count < max, !routes.contains(route) { waiting[part, default: []].append(route) }
    }

    /// Takes the parts that were waited for and are encoded now, with their observers, in order.
    mutating func takeWaiting() -> [(part: UInt64, route: Route)] {
        let ready = waiting.keys.filter { isComplete || $0 < parts.count }.sorted()
        return ready.flatMap { part in (waiting.removeValue(forKey: part) ?? []).map { (part, $0) } }
    }

    /// The observers that wait, each once, with the transfer number that each of them uses: 0 before it has the first part.
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

extension StateTransfer {
    /// The purpose of a transfer. Transfers with one purpose share a limit.
    struct Purpose: Hashable {
        let section: Int?
        let followsDeltas: Bool
    }

    var purpose: Purpose { Purpose(section: section, followsDeltas: stream != nil) }
}

import LoopCore
import LoopWire

/// The updates that came while their base is being fetched. It is bounded; updates that do not fit are fetched too.
struct Waiting: Sendable {
    private(set) var deltas: [StateDelta] = []
    private(set) var notes: [TransitionNote] = []
    private var bytes = 0

    private static var countMax: Int { 16_384 }
    /// The least bound for deltas, in bytes, and the bound for events. Deltas to a larger state may take as much as that state,
    /// up to a limit.
    static var bytesMax: Int { 8 << 20 }

    var isEmpty: Bool { deltas.isEmpty && notes.isEmpty }

    mutating func removeAll() { self = Waiting() }

    mutating func add(_ delta: StateDelta, bytesMax: Int) {
        deltas.append(delta)
        bytes += delta.bytes.count
        while bytes > bytesMax || deltas.count > Self.countMax {
            bytes -= deltas.removeFirst().bytes.count
        }
    }

    /// - Parameter new: the newest events that are known.
    mutating func add(_ new: some Collection<TransitionNote>) {
        for note in new where note.seq > notes.last?.seq ?? .initial {
            notes.append(note)
            bytes += note.byteCount
        }
        // Without the oldest event, which would have to be requested anyway, the others are of no use.
        if bytes > Self.bytesMax || notes.count > Self.countMax { removeAll() }
    }

    /// Takes out the next delta that applies to a state, and forgets those that are too old for it.
    /// - Parameter anyBase: whether any newer one will do. That breaks a rule on purpose.
    mutating func next(after content: ClosedRange<Seq>, anyBase: Bool) -> StateDelta? {
        while let first = deltas.first {
            // A delta to a seq at which nothing has changed, as the reducer said, is of no use.
            let isNewer = first.seq > content.upperBound
            let applies = isNewer && (anyBase || first.base.overlaps(content))
            guard applies || !isNewer else { return nil }
            bytes -= first.bytes.count
            deltas.removeFirst()
            if applies { return first }
        }
        return nil
    }

    /// Takes out the events that directly follow a seq, and forgets those up to it.
    mutating func notes(after seq: Seq) -> [TransitionNote] {
        var taken: [TransitionNote] = []
        var last = seq
        var count = 0
        for note in notes {
            if note.seq > last {
                guard note.seq.value - last.value == 1 else { break }
                taken.append(note)
                last = note.seq
            }
            count += 1
        }
        for note in notes.prefix(count) { bytes -= note.byteCount }
        notes.removeFirst(count)
        return taken
    }
}

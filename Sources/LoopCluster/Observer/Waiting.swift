import LoopCore
import LoopWire

/// The deltas that came while their base is being fetched. It is bounded; what does not fit is fetched too.
struct Waiting: Sendable {
    private(set) var deltas: [StateDelta] = []
    private var bytes = 0

    private static var countMax: Int { 16_384 }
    /// The least bound, in bytes. Deltas to a larger state may take as much as that state, up to a limit.
    static var bytesMax: Int { 8 << 20 }

    var isEmpty: Bool { deltas.isEmpty }

    mutating func removeAll() { self = Waiting() }

    mutating func add(_ delta: StateDelta, bytesMax: Int) {
        deltas.append(delta)
        bytes += delta.bytes.count
        while bytes > bytesMax || deltas.count > Self.countMax {
            bytes -= deltas.removeFirst().bytes.count
        }
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
}

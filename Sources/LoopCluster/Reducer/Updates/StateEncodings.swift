import LoopCore
import LoopWire

/// Encodes the state and its sections for all streams of a turn, each at most once, and remembers their sizes.
///
/// A section is named by its position in the definition, and the whole state by nil.
struct StateEncodings: Sendable {
    /// The size of each when it was last encoded, in bytes.
    private var sizes: [Int?: Int] = [:]

    // These are of this turn.
    private var states: [Int?: [UInt8]] = [:]
    private var hashes: [Int?: UInt64] = [:]
    private var deltas: [DeltaKey: [UInt8]] = [:]

    /// The base of a delta.
    private struct DeltaKey: Hashable {
        let section: Int?
        let seqs: ClosedRange<Seq>
    }

    /// The encoded state, or nil if it cannot be encoded.
    mutating func state(_ section: Int?, _ journaled: JournaledState) -> [UInt8]? {
        if let bytes = states[section] { return bytes }
        guard let bytes = try? journaled.loopState.encodedState(section: section) else { return nil }
        note(size: bytes.count, of: section)
        states[section] = bytes
        return bytes
    }

    mutating func hash(_ section: Int?, _ journaled: JournaledState) -> UInt64? {
        if let hash = hashes[section] { return hash }
        guard let bytes = state(section, journaled) else { return nil }
        let hash = StableHash.fnv1a(bytes)
        hashes[section] = hash
        return hash
    }

    /// - Parameter seqs: the seqs at which the state equals the base.
    mutating func delta(
        to base: DeltaBase, _ seqs: ClosedRange<Seq>, _ section: Int?, _ journaled: JournaledState
    ) -> [UInt8]? {
        let key = DeltaKey(section: section, seqs: seqs)
        if let bytes = deltas[key] { return bytes }
        guard let bytes = try? journaled.loopState.delta(since: base, section: section) else { return nil }
        deltas[key] = bytes
        return bytes
    }

    /// Forgets what a turn has encoded, except the sizes.
    mutating func endTurn() {
        if !states.isEmpty { states = [:] }
        if !hashes.isEmpty { hashes = [:] }
        if !deltas.isEmpty { deltas = [:] }
    }

    // MARK: Sizes

    mutating func note(size: Int, of section: Int?) { sizes[section] = size }

    /// The size of the state or of a section, as far as it is known. A section that was never encoded may be as large as the state.
    func size(of section: Int?, _ journaled: JournaledState) -> Int {
        let size = sizes[section] ?? 0
        return section == nil || size == 0 ? max(size, journaled.digestedBytes) : size
    }

    /// Whether a hash is due. Encoding and hashing cost 5 to 8 ns per byte, so 8 bytes for each event cost about 50 ns.
    /// - Parameter sharers: how many streams share that budget.
    func isHashDue(since seq: Seq, of section: Int?, sharers: Int, _ journaled: JournaledState) -> Bool {
        let interval = max(32, size(of: section, journaled) / 8) * sharers
        return journaled.seq.value - seq.value >= UInt64(interval)
    }
}

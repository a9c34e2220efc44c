public import LoopCore
public import LoopWire

/// The result of handing several entries to a peer at once.
public struct Acceptance: Sendable {
    /// The number of the first entry that was accepted. The numbers of the others follow without a gap.
    public let first: UInt64
    /// The entries that were not accepted, by their index in the run, ascending. The refusal of an effect's end has no
    /// consequences, because its attempt no longer runs here.
    public internal(set) var refused: [(index: Int, refusal: SendRefusal)] = []
    /// The attempts whose body has ended.
    public internal(set) var ended: [(effect: EffectID, attempt: Attempt)] = []

    init(first: UInt64) { self.first = first }

    /// The number of an entry of a run that begins at index 0, or why the entry has none.
    public subscript(index: Int) -> Result<UInt64, SendRefusal> {
        // The index in `refused` of the first refused entry that is not before this one.
        var (low, high) = (0, refused.count)
        while low < high {
            let middle = (low + high) / 2
            if refused[middle].index < index { low = middle + 1 } else { high = middle }
        }
        if low < refused.count, refused[low].index == index { return .failure(refused[low].refusal) }
        return .success(first + UInt64(index - low))
    }
}

import LoopCollections
import LoopCore

/// An effect, and its place when it was seen among the live ones. While it is in that place, it is found without a search.
struct EffectCursor {
    let effect: EffectID
    /// The place, or nil if the effect was not searched for.
    private let seenAt: Int?

    init(_ effect: EffectID, seenAt place: Int? = nil) {
        self.effect = effect
        seenAt = place
    }

    /// The place of the effect, or nil if it is not live.
    @inline(__always)
    func place(in effects: HashTable<EffectID, LiveEffect>) -> Int? { effects.index(forKey: effect, near: seenAt) }
}

import LoopCollections
import LoopCore

/// An effect, and the place where it was seen among the live ones. While it stands there it is found without a search.
struct EffectCursor {
    let effect: EffectID
    /// Nil: it was not looked for.
    private let seenAt: Int?

    init(_ effect: EffectID, seenAt place: Int? = nil) {
        self.effect = effect
        seenAt = place
    }

    /// Where the effect stands; nil: it is not live.
    @inline(__always)
    func place(in effects: HashTable<EffectID, LiveEffect>) -> Int? { effects.index(forKey: effect, near: seenAt) }
}

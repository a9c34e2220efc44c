import LoopCollections
import LoopCore
import LoopWire

/// Prefetching of what the next entries and grants need into the processor's cache, while others are processed. It changes
/// nothing else.
///
/// An effect that ends was last touched when it began, some thousand effects before. Without this, a reducer with 4,000 effects
/// spends two fifths of its time waiting for memory.
extension Dispatch {
    /// Finds the effects of a batch's next entries, and prefetches what is known about them.
    func lookAhead(
        in entries: EntryRun, from offset: Int, _ effects: HashTable<EffectID, LiveEffect>, _ found: inout Lookahead
    ) {
        guard !entries.isPlain else { return }
        found = Lookahead()
        let first = entries.startIndex + offset
        let end = min(first + Lookahead.count, entries.endIndex)
        entries.forEachEffect(in: first..<end) { position, effect in
            found[position - first] = effects.index(forKey: effect)
        }
        for index in 0..<end - first {
            guard let place = found[index] else { continue }
            effects.fetch(place)
            owners.fetch(place)
            scheduler.fetch(place)
        }
        for index in 0..<end - first { if let place = found[index] { effects[at: place].request.fetch() } }
    }

    /// Prefetches what is needed for grants that come a few effects later.
    func fetchNextGrants(_ effects: HashTable<EffectID, LiveEffect>) {
        if let place = scheduler.place(after: 8) {
            effects.fetch(place)
            scheduler.fetch(place)
        }
        if let place = scheduler.place(after: 4), effects.keyIfTaken(at: place) != nil {
            effects[at: place].request.fetch()
        }
    }
}

/// The places of the effects of a batch's next entries. Meanwhile an effect may have gone, and another one taken its place.
struct Lookahead {
    static var count: Int { 16 }

    private var places = InlineArray<16, Int?>(repeating: nil)

    /// The place of an entry's effect, by the entry's offset in the batch, or nil if it was not found.
    subscript(offset: Int) -> Int? {
        get { places[offset % Self.count] }
        set { places[offset % Self.count] = newValue }
    }
}

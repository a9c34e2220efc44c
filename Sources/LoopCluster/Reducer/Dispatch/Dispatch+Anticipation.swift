import LoopCollections
import LoopCore
import LoopWire

/// Fetches what the next entries and grants need into the processor's cache while others are done. It changes nothing else.
///
/// An effect that ends was last touched when it began, some thousand effects before. Without this, a reducer with 4,000 effects
/// waits for memory for two fifths of its time.
extension Dispatch {
    /// Finds the effects of the next entries of a batch together, and fetches what there is about them.
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

    /// Fetches what is needed to grant the effects that are next in line but for a few.
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

/// Where the effects of the next few entries of a batch were found. Meanwhile one may have gone, and its place been taken by
/// another.
struct Lookahead {
    static var count: Int { 16 }

    private var places = InlineArray<16, Int?>(repeating: nil)

    /// Of an entry, by its offset in the batch; nil: nowhere.
    subscript(offset: Int) -> Int? {
        get { places[offset % Self.count] }
        set { places[offset % Self.count] = newValue }
    }
}

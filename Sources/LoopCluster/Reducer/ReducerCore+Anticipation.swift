import LoopCore
import LoopWire

/// Fetches what the next entries and grants need into the processor's cache while others are done. It changes nothing else.
///
/// An effect that ends was last touched when it began, some thousand effects before. Without this, a reducer with 4,000 effects
/// waits for memory for two fifths of its time.
extension ReducerCore {
    /// Finds the effects of the next entries side by side, and fetches what there is about them.
    func anticipate(_ entries: EntryRun, from offset: Int, _ near: inout NearPlaces) {
        guard !entries.isPlain else { return }
        near = NearPlaces()
        let first = entries.startIndex + offset
        let end = min(first + NearPlaces.count, entries.endIndex)
        entries.forEachEffect(in: first..<end) { position, effect in
            near[position - first] = core.effects.index(forKey: effect)
        }
        for index in 0..<end - first {
            guard let place = near[index] else { continue }
            core.effects.fetch(place)
            owners.fetch(place)
            scheduler.fetch(place)
        }
        for index in 0..<end - first { if let place = near[index] { fetchRequest(place) } }
    }

    /// Fetches what is needed to grant the effects that are next in line but for a few.
    func anticipateGrants() {
        if let place = scheduler.place(after: 8) {
            core.effects.fetch(place)
            scheduler.fetch(place)
        }
        if let place = scheduler.place(after: 4), core.effects.keyIfTaken(at: place) != nil { fetchRequest(place) }
    }

    /// - Parameter place: of a live effect.
    private func fetchRequest(_ place: Int) {
        core.effects[at: place].request.fetch()
    }
}

/// Where the effects of the next few entries were found. Meanwhile one may have gone, and its place been taken by another.
struct NearPlaces {
    static var count: Int { 16 }

    private var places = InlineArray<16, Int?>(repeating: nil)

    /// Of an entry, by its offset in the batch; nil: nowhere.
    subscript(offset: Int) -> Int? {
        get { places[offset % Self.count] }
        set { places[offset % Self.count] = newValue }
    }
}

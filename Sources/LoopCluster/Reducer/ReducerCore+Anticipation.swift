import LoopCore
import LoopWire

/// What is kept of each live effect is in some ten pieces of memory, and an effect that ends was last touched when it began, some
/// thousand effects before: a reducer with 4,000 of them waited for memory for two fifths of its time. So what the next
/// entries and grants need is fetched while others are done. None of it changes anything.
extension ReducerCore {
    /// Finds the effects of the next entries side by side, and fetches what there is about them.
    func anticipate(_ entries: EntryRun, from offset: Int, _ near: inout NearPlaces) {
        guard !entries.isPlain else { return }
        near = NearPlaces()
        let first = entries.startIndex + offset
        let end = min(first + NearPlaces.count, entries.endIndex)
        entries.forEachEffect(in: first..<end) { position, effect in
            near[position - first] = core.effects.index(forKey: effect) ?? -1
        }
        for index in 0..<end - first {
            let place = near[index]
            core.effects.fetch(place)
            owners.fetch(place)
            scheduler.fetch(place)
        }
        for index in 0..<end - first where near[index] >= 0 { fetchRequest(near[index]) }
    }

    /// Fetches what is needed to grant the effects that are next in line but for a few.
    func anticipateGrants() {
        let place = scheduler.place(behind: 8)
        core.effects.fetch(place)
        scheduler.fetch(place)
        let soon = scheduler.place(behind: 4)
        if core.effects.keyIfTaken(at: soon) != nil { fetchRequest(soon) }
    }

    /// - Parameter place: of a live effect.
    private func fetchRequest(_ place: Int) {
        core.effects[at: place].request.fetch()
    }
}

/// Where the effects of the next few entries were found. Meanwhile one may have gone, and its place been taken by another.
struct NearPlaces {
    static var count: Int { 16 }

    private var places = InlineArray<16, Int>(repeating: -1)

    /// Of an entry, by its offset in the batch; -1: nowhere.
    subscript(offset: Int) -> Int {
        get { places[offset % Self.count] }
        set { places[offset % Self.count] = newValue }
    }
}

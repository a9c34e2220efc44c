@usableFromInline
struct HashEntry<Key, Value> {
    @usableFromInline var key: Key
    @usableFromInline var value: Value

    @inlinable
    init(key: Key, value: consuming Value) {
        self.key = key
        self.value = value
    }
}

/// The memory of a `HashTable`: a table of words, and the entries that they point to. Places that were given back form a list.
///
/// It is changed by the one table that holds it alone, so that no access to its numbers is checked at run time.
@usableFromInline
final class HashStorage<Key: Equatable, Value> {
    @usableFromInline typealias Entry = HashEntry<Key, Value>

    /// Of a word: the hash in the lower half; the place, plus one, in the upper; 0 is nothing.
    @usableFromInline let words: UnsafeMutablePointer<UInt64>
    /// The number of words, a power of two, less one.
    @usableFromInline let mask: Int
    @usableFromInline let entries: UnsafeMutablePointer<Entry>
    /// Of a place that is free: the next free one, or `end`; of one that is taken: `taken`.
    @usableFromInline let links: UnsafeMutablePointer<Int32>
    /// How many entries there is room for.
    @usableFromInline let capacity: Int
    @exclusivity(unchecked) @usableFromInline var count = 0
    /// Places from here on have never been taken.
    @exclusivity(unchecked) @usableFromInline var high = 0
    @exclusivity(unchecked) @usableFromInline var firstFree: Int32 = -1

    @inlinable static var end: Int32 { -1 }
    @inlinable static var taken: Int32 { -2 }

    @inlinable
    init(capacity wanted: Int) {
        var size = 8
        while size / 4 * 3 < wanted { size *= 2 }
        mask = size - 1
        capacity = size / 4 * 3
        words = .allocate(capacity: size)
        words.initialize(repeating: 0, count: size)
        entries = Self.lines(capacity)
        links = .allocate(capacity: capacity)
    }

    /// Memory for entries, none of them in more lines of a processor's cache than it must be: 64 bytes are in one.
    @inlinable
    static func lines(_ capacity: Int) -> UnsafeMutablePointer<Entry> {
        UnsafeMutableRawPointer
            .allocate(
                byteCount: capacity * MemoryLayout<Entry>.stride, alignment: max(64, MemoryLayout<Entry>.alignment)
            )
            .bindMemory(to: Entry.self, capacity: capacity)
    }

    @inlinable
    deinit {
        // In runs: code of a `deinit` is not specialised for its types.
        var place = 0
        while place < high {
            let first = place
            while place < high, isTaken(place) { place += 1 }
            if place > first { (entries + first).deinitialize(count: place - first) }
            place += 1
        }
        words.deallocate()
        entries.deallocate()
        links.deallocate()
    }

    @inlinable @inline(__always)
    func isTaken(_ place: Int) -> Bool { links[place] == Self.taken }

    /// The same entries at the same places, with room for at least so many.
    @inlinable
    func copy(capacity: Int) -> HashStorage {
        let copy = HashStorage(capacity: capacity)
        for place in 0..<high {
            copy.links[place] = links[place]
            if isTaken(place) { (copy.entries + place).initialize(to: entries[place]) }
        }
        (copy.count, copy.high, copy.firstFree) = (count, high, firstFree)
        for place in 0...mask where words[place] != 0 { copy.put(words[place]) }
        return copy
    }

    /// All entries, moved to where there is twice the room. Nothing is left here.
    @inlinable
    func grown() -> HashStorage {
        let grown = HashStorage(capacity: capacity * 2)
        for place in 0..<high {
            grown.links[place] = links[place]
            if isTaken(place) { (grown.entries + place).moveInitialize(from: entries + place, count: 1) }
        }
        (grown.count, grown.high, grown.firstFree) = (count, high, firstFree)
        for place in 0...mask where words[place] != 0 { grown.put(words[place]) }
        (count, high) = (0, 0)
        return grown
    }

    @inlinable @inline(__always)
    static func place(_ word: UInt64) -> Int { Int(truncatingIfNeeded: word >> 32) - 1 }

    @inlinable @inline(__always)
    func home(_ word: UInt64) -> Int { Int(truncatingIfNeeded: word & 0xFFFF_FFFF) & mask }

    @inlinable @inline(__always)
    func put(_ word: UInt64) {
        var index = home(word)
        while words[index] != 0 { index = (index + 1) & mask }
        words[index] = word
    }

    /// The place of a key, or -1.
    @inlinable
    func find(_ key: Key, _ hash: UInt32) -> Int {
        var index = Int(hash) & mask
        while true {
            let word = words[index]
            if word == 0 { return -1 }
            if UInt32(truncatingIfNeeded: word) == hash {
                let place = Self.place(word)
                if entries[place].key == key { return place }
            }
            index = (index + 1) & mask
        }
    }

    /// Takes a place for an entry that is not there; the caller puts it in.
    @inlinable
    func take(_ hash: UInt32) -> Int {
        var place = high
        if firstFree >= 0 {
            place = Int(firstFree)
            firstFree = links[place]
        } else {
            high += 1
        }
        links[place] = Self.taken
        count += 1
        put(UInt64(hash) | UInt64(truncatingIfNeeded: place + 1) << 32)
        return place
    }

    /// Gives a place back; its entry is left to the caller.
    @inlinable
    func unlink(_ place: Int, _ hash: UInt32) {
        let word = UInt64(hash) | UInt64(truncatingIfNeeded: place + 1) << 32
        var hole = Int(hash) & mask
        while words[hole] != word {
            precondition(words[hole] != 0, "there is nothing of this hash at place \(place)")
            hole = (hole + 1) & mask
        }
        closeHole(hole)
        count -= 1
        links[place] = firstFree
        firstFree = Int32(truncatingIfNeeded: place)
    }

    /// Moves up the words behind a hole that would otherwise not be found from their home any more.
    @inlinable
    func closeHole(_ start: Int) {
        var hole = start
        var index = (start + 1) & mask
        while words[index] != 0 {
            let distance = (index - home(words[index])) & mask
            if distance >= (index - hole) & mask {
                words[hole] = words[index]
                hole = index
            }
            index = (index + 1) & mask
        }
        words[hole] = 0
    }
}

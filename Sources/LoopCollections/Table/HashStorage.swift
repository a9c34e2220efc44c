// Unsafe: the storage owns its memory until it is freed. Only a table that is the single owner changes it, so no accesses overlap.

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

/// The memory of a `HashTable`: a table of words, and the entries that they point to. Free places form a list.
///
/// Only a table that is its single owner changes it. So no access to its numbers is checked at run time.
@usableFromInline
@safe final class HashStorage<Key: Equatable, Value> {
    @usableFromInline typealias Entry = HashEntry<Key, Value>

    /// A word has the hash in the lower half and the place plus one in the upper half. An empty word is 0.
    @usableFromInline let words: UnsafeMutablePointer<UInt64>
    /// The number of words, which is a power of two, minus one.
    @usableFromInline let mask: Int
    @usableFromInline let entries: UnsafeMutablePointer<Entry>
    /// For a free place the next free one, or `end`; for a taken place `taken`.
    @usableFromInline let links: UnsafeMutablePointer<Int32>
    /// The number of entries for which there is memory.
    @usableFromInline let capacity: Int
    @exclusivity(unchecked) @usableFromInline var count = 0
    /// The places from here on have never been taken.
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
        unsafe words = .allocate(capacity: size)
        unsafe words.initialize(repeating: 0, count: size)
        unsafe entries = unsafe Self.lines(capacity)
        unsafe links = .allocate(capacity: capacity)
    }

    /// Memory for entries, aligned so that each entry is in as few cache lines as possible. A line has 64 bytes.
    @inlinable
    static func lines(_ capacity: Int) -> UnsafeMutablePointer<Entry> {
        unsafe UnsafeMutableRawPointer
            .allocate(
                byteCount: capacity * MemoryLayout<Entry>.stride, alignment: max(64, MemoryLayout<Entry>.alignment)
            )
            .bindMemory(to: Entry.self, capacity: capacity)
    }

    @inlinable
    deinit {
        // Destroys runs of entries, because code of a `deinit` is not specialised for its types.
        var place = 0
        while unsafe place < high {
            let first = place
            while unsafe place < high, isTaken(place) { place += 1 }
            if place > first { unsafe (entries + first).deinitialize(count: place - first) }
            place += 1
        }
        unsafe words.deallocate()
        unsafe entries.deallocate()
        unsafe links.deallocate()
    }

    @inlinable @inline(__always)
    func isTaken(_ place: Int) -> Bool { unsafe links[place] == Self.taken }

    /// A copy with each entry at its place, and with memory for at least `capacity` entries.
    @inlinable
    func copy(capacity: Int) -> HashStorage {
        let copy = HashStorage(capacity: capacity)
        for place in unsafe 0..<high {
            unsafe copy.links[place] = unsafe links[place]
            if isTaken(place) { unsafe (copy.entries + place).initialize(to: entries[place]) }
        }
        unsafe (copy.count, copy.high, copy.firstFree) = unsafe (count, high, firstFree)
        for place in 0...mask where unsafe words[place] != 0 { unsafe copy.put(words[place]) }
        return copy
    }

    /// Moves all entries to a storage with twice the capacity. This one is empty afterwards.
    @inlinable
    func grown() -> HashStorage {
        let grown = HashStorage(capacity: capacity * 2)
        for place in unsafe 0..<high {
            unsafe grown.links[place] = unsafe links[place]
            if isTaken(place) { unsafe (grown.entries + place).moveInitialize(from: entries + place, count: 1) }
        }
        unsafe (grown.count, grown.high, grown.firstFree) = unsafe (count, high, firstFree)
        for place in 0...mask where unsafe words[place] != 0 { unsafe grown.put(words[place]) }
        unsafe (count, high) = (0, 0)
        return grown
    }

    @inlinable @inline(__always)
    static func place(_ word: UInt64) -> Int { Int(truncatingIfNeeded: word >> 32) - 1 }

    @inlinable @inline(__always)
    func home(_ word: UInt64) -> Int { Int(truncatingIfNeeded: word & 0xFFFF_FFFF) & mask }

    @inlinable @inline(__always)
    func put(_ word: UInt64) {
        var index = home(word)
        while unsafe words[index] != 0 { index = (index + 1) & mask }
        unsafe words[index] = word
    }

    /// The place of a key, or nil.
    @inlinable
    func find(_ key: Key, _ hash: UInt32) -> Int? {
        var index = Int(hash) & mask
        while true {
            let word = unsafe words[index]
            if word == 0 { return nil }
            if UInt32(truncatingIfNeeded: word) == hash {
                let place = Self.place(word)
                if unsafe entries[place].key == key { return place }
            }
            index = (index + 1) & mask
        }
    }

    /// Takes a place for a new entry. The caller stores the entry.
    @inlinable
    func take(_ hash: UInt32) -> Int {
        var place = unsafe high
        if unsafe firstFree >= 0 {
            place = unsafe Int(firstFree)
            unsafe firstFree = unsafe links[place]
        } else {
            unsafe high += 1
        }
        unsafe links[place] = Self.taken
        unsafe count += 1
        put(UInt64(hash) | UInt64(truncatingIfNeeded: place + 1) << 32)
        return place
    }

    /// Frees a place. The caller destroys or moves its entry.
    @inlinable
    func unlink(_ place: Int, _ hash: UInt32) {
        let word = UInt64(hash) | UInt64(truncatingIfNeeded: place + 1) << 32
        var hole = Int(hash) & mask
        while unsafe words[hole] != word {
            unsafe precondition(words[hole] != 0, "there is nothing of this hash at place \(place)")
            hole = (hole + 1) & mask
        }
        closeHole(hole)
        unsafe count -= 1
        unsafe links[place] = unsafe firstFree
        unsafe firstFree = Int32(truncatingIfNeeded: place)
    }

    /// Moves up the words after a gap that otherwise could no longer be found from their home.
    @inlinable
    func closeHole(_ start: Int) {
        var hole = start
        var index = (start + 1) & mask
        while unsafe words[index] != 0 {
            let distance = unsafe (index - home(words[index])) & mask
            if distance >= (index - hole) & mask {
                unsafe words[hole] = unsafe words[index]
                hole = index
            }
            index = (index + 1) & mask
        }
        unsafe words[hole] = 0
    }
}

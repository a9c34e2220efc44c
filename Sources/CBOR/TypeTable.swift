/// By type: what was found out about it, in a table of fixed size whose entries are never moved.
struct TypeTable<Entry> {
    private let places: UnsafeMutablePointer<UnsafeMutablePointer<Entry>?>
    private let types: UnsafeMutablePointer<UInt>
    private static var placesMax: Int { 256 }
    private static var stepsMax: Int { 8 }

    init() {
        places = .allocate(capacity: Self.placesMax + Self.stepsMax)
        places.initialize(repeating: nil, count: Self.placesMax + Self.stepsMax)
        types = .allocate(capacity: Self.placesMax + Self.stepsMax)
        types.initialize(repeating: 0, count: Self.placesMax + Self.stepsMax)
    }

    /// The entry of a type; nil if there is none.
    @inline(__always)
    func entry(_ type: Any.Type) -> UnsafeMutablePointer<Entry>? {
        let identity = UInt(bitPattern: ObjectIdentifier(type))
        var place = Self.place(identity)
        // Most are where they are looked for first.
        if types[place] == identity { return places[place] }
        for _ in 1..<Self.stepsMax {
            place += 1
            if types[place] == identity { return places[place] }
        }
        return nil
    }

    /// Adds the entry of a type that has none; nil if there is no room near its place.
    func add(_ type: Any.Type, _ entry: Entry) -> UnsafeMutablePointer<Entry>? {
        let identity = UInt(bitPattern: ObjectIdentifier(type))
        let first = Self.place(identity)
        for place in first..<first + Self.stepsMax where types[place] == 0 {
            let memory = UnsafeMutablePointer<Entry>.allocate(capacity: 1)
            memory.initialize(to: entry)
            places[place] = memory
            types[place] = identity
            return memory
        }
        return nil
    }

    func free(_ freeEntry: (Entry) -> Void) {
        for place in 0..<Self.placesMax + Self.stepsMax {
            guard let entry = places[place] else { continue }
            freeEntry(entry.pointee)
            entry.deinitialize(count: 1)
            entry.deallocate()
        }
        places.deallocate()
        types.deallocate()
    }

    @inline(__always)
    private static func place(_ identity: UInt) -> Int { Int((identity &* 0x9E37_79B9_7F4A_7C15) >> 56) }
}

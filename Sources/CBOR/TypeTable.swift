// Unsafe: the table owns its entries until `free(_:)`, and never moves them.

/// What is known about types, in a table of fixed size whose entries are never moved.
@safe struct TypeTable<Entry> {
    private let places: UnsafeMutablePointer<UnsafeMutablePointer<Entry>?>
    private let types: UnsafeMutablePointer<UInt>
    private static var placesMax: Int { 256 }
    private static var stepsMax: Int { 8 }

    init() {
        unsafe places = .allocate(capacity: Self.placesMax + Self.stepsMax)
        unsafe places.initialize(repeating: nil, count: Self.placesMax + Self.stepsMax)
        unsafe types = .allocate(capacity: Self.placesMax + Self.stepsMax)
        unsafe types.initialize(repeating: 0, count: Self.placesMax + Self.stepsMax)
    }

    /// The entry of a type, or nil if there is none.
    @inline(__always)
    func entry(_ type: Any.Type) -> UnsafeMutablePointer<Entry>? {
        let identity = UInt(bitPattern: ObjectIdentifier(type))
        var place = Self.place(identity)
        // Most entries are in their first place.
        if unsafe types[place] == identity { return unsafe places[place] }
        for _ in 1..<Self.stepsMax {
            place += 1
            if unsafe types[place] == identity { return unsafe places[place] }
        }
        return nil
    }

    /// Adds the entry of a type that has none. Returns nil if no place near its first one is free.
    func add(_ type: Any.Type, _ entry: Entry) -> UnsafeMutablePointer<Entry>? {
        let identity = UInt(bitPattern: ObjectIdentifier(type))
        let first = Self.place(identity)
        for place in first..<first + Self.stepsMax where unsafe types[place] == 0 {
            let memory = UnsafeMutablePointer<Entry>.allocate(capacity: 1)
            unsafe memory.initialize(to: entry)
            unsafe places[place] = unsafe memory
            unsafe types[place] = identity
            return unsafe memory
        }
        return nil
    }

    func free(_ freeEntry: (Entry) -> Void) {
        for place in 0..<Self.placesMax + Self.stepsMax {
            guard let entry = unsafe places[place] else { continue }
            unsafe freeEntry(entry.pointee)
            unsafe entry.deinitialize(count: 1)
            unsafe entry.deallocate()
        }
        unsafe places.deallocate()
        unsafe types.deallocate()
    }

    @inline(__always)
    private static func place(_ identity: UInt) -> Int { Int((identity &* 0x9E37_79B9_7F4A_7C15) >> 56) }
}

// Unsafe: the slots belong to the table, which is never freed and has at least one that is free.

/// An object for each type that a coding state has met.
///
/// Finding out how a type is coded takes a search through the program's protocol conformances, which costs more than coding a small
/// value. The answer never changes.
@safe struct TypeTable {
    private typealias Slot = (type: UInt, object: AnyObject?)

    private var slots = unsafe Self.slots(64)
    private var mask = 63
    private var count = 0

    private static func slots(_ capacity: Int) -> UnsafeMutablePointer<Slot> {
        let slots = UnsafeMutablePointer<Slot>.allocate(capacity: capacity)
        unsafe slots.initialize(repeating: (0, nil), count: capacity)
        return unsafe slots
    }

    /// The object of a type, or nil if there is none yet.
    @inline(__always)
    func object(of type: Any.Type) -> AnyObject? {
        unsafe slots[place(of: UInt(bitPattern: ObjectIdentifier(type)))].object
    }

    /// Adds the object of a type that has none.
    mutating func add(_ object: AnyObject, of type: Any.Type) {
        if 2 * count > mask { grow() }
        let type = UInt(bitPattern: ObjectIdentifier(type))
        unsafe slots[place(of: type)] = (type, object)
        count += 1
    }

    private mutating func grow() {
        let (old, oldMask) = unsafe (slots, mask)
        mask = 2 * mask + 1
        unsafe slots = unsafe Self.slots(mask + 1)
        for number in 0...oldMask where unsafe old[number].type != 0 {
            unsafe slots[place(of: old[number].type)] = unsafe old[number]
        }
        unsafe old.deinitialize(count: oldMask + 1)
        unsafe old.deallocate()
    }

    /// The slot of a type, or the free one where it belongs.
    @inline(__always)
    private func place(of type: UInt) -> Int {
        var place = Int(truncatingIfNeeded: (type &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
        while unsafe slots[place].type != type && slots[place].type != 0 { place = (place &+ 1) & mask }
        return place
    }
}

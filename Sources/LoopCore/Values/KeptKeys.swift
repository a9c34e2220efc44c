import Synchronization

extension KeyedDecodingContainer {
    /// Every key of the container that `Key` knows, in the container's order.
    ///
    /// The compiler's decoding of an enum asks for them. The standard library's property of this name makes two arrays and casts
    /// each key twice, which is more work than all the rest of reading a small event; a coder of Loop's has the answer already.
    /// Any other coder is asked as always. Where this module is imported, this property is taken in place of the library's.
    @inlinable
    public var allKeys: [Key] {
        if let kept = KeptKeys.answer(of: self) { return kept }
        return KeptKeys.asked(self)
    }
}

/// Answers to `allKeys` that a coder keeps.
///
/// A keyed container is one reference to an object of the standard library's, its box, in which the coder's own container
/// lies. A coder makes known the classes of the boxes that hold its containers; a box of such a class may be asked directly.
/// Should a later library put containers together differently, no class is made known, and everything goes the library's way.
@usableFromInline
package enum KeptKeys {
    /// Finds the kept answer of the container at this address: an array that is kept as long as the container's document is
    /// open. Nil if there is none.
    package typealias Reader = @convention(c) (_ container: UnsafeRawPointer) -> UnsafeRawPointer?

    /// Where the coder's container begins in a box: behind the two words that every object of Swift's has.
    private static let offset = 16

    private static let reader = Atomic<UInt>(0)
    private static let classes = ClassTable()

    /// Makes known the class of a container's box, if the box holds the coder's container where it is looked for.
    ///
    /// There is one coder: the reader is the same for all classes.
    /// - Parameter words: the first two words of the coder's container.
    package static func makeKnown<Key>(
        _ container: KeyedDecodingContainer<Key>, words: (UInt, UInt), reader: Reader
    ) {
        guard MemoryLayout<KeyedDecodingContainer<Key>>.size == MemoryLayout<UInt>.size else { return }
        withExtendedLifetime(container) {
            let box = unsafeBitCast(container, to: UnsafeRawPointer.self)
            let held = (box + offset).assumingMemoryBound(to: UInt.self)
            guard held[0] == words.0, held[1] == words.1 else { return }
            Self.reader.store(unsafeBitCast(reader, to: UInt.self), ordering: .relaxed)
            classes.add(box.load(as: UInt.self))
        }
    }

    /// The answer that a coder keeps for a container; nil if there is none.
    @inlinable
    static func answer<Key>(of container: KeyedDecodingContainer<Key>) -> [Key]? {
        guard MemoryLayout<KeyedDecodingContainer<Key>>.size == MemoryLayout<UInt>.size else { return nil }
        return withExtendedLifetime(container) {
            guard let keys = find(unsafeBitCast(container, to: UnsafeRawPointer.self)) else { return nil }
            return unsafeBitCast(Unmanaged<AnyObject>.fromOpaque(keys).takeUnretainedValue(), to: [Key].self)
        }
    }

    @usableFromInline
    static func find(_ box: UnsafeRawPointer) -> UnsafeRawPointer? {
        guard classes.contains(box.load(as: UInt.self)) else { return nil }
        return unsafeBitCast(reader.load(ordering: .relaxed), to: Reader.self)(box + offset)
    }

    /// The container's own answer.
    @inlinable
    static func asked<Container: KeyedDecodingContainerProtocol>(_ container: Container) -> [Container.Key] {
        container.allKeys
    }
}

/// Classes by their addresses, in a table of fixed size that threads read and add to without waiting for each other. One for
/// which there is no room is left out.
private struct ClassTable: @unchecked Sendable {
    private let places: UnsafeMutablePointer<Atomic<UInt>>
    private static let placesMax = 1024
    private static let stepsMax = 8

    init() {
        places = .allocate(capacity: Self.placesMax + Self.stepsMax)
        for place in 0..<Self.placesMax + Self.stepsMax { (places + place).initialize(to: Atomic(0)) }
    }

    @inline(__always)
    func contains(_ identity: UInt) -> Bool {
        let first = Self.place(identity)
        for place in first..<first + Self.stepsMax {
            let found = places[place].load(ordering: .acquiring)
            if found == identity { return true }
            if found == 0 { return false }
        }
        return false
    }

    func add(_ identity: UInt) {
        let first = Self.place(identity)
        for place in first..<first + Self.stepsMax {
            let (added, found) = places[place].compareExchange(
                expected: 0, desired: identity, ordering: .acquiringAndReleasing)
            if added || found == identity { return }
        }
    }

    @inline(__always)
    private static func place(_ identity: UInt) -> Int { Int((identity &* 0x9E37_79B9_7F4A_7C15) >> 54) }
}

import Synchronization

// Unsafe: a state belongs to the coding that took it out by an atomic exchange, else to the pool.

/// Encoding and decoding states that wait for their next value, so that coding a small one allocates nothing.
///
/// A place is taken and filled by one atomic exchange each; no thread waits for another. A state that finds no
/// free place is freed. Handles are refused by their serial number when their state serves another value.
@safe struct CorePool<State>: @unchecked Sendable {
    private let places: UnsafeMutablePointer<Atomic<UInt>>
    private static var placesMax: Int { 64 }

    init() {
        unsafe places = .allocate(capacity: Self.placesMax)
        for place in 0..<Self.placesMax { unsafe (places + place).initialize(to: Atomic(0)) }
    }

    /// A state that was given back, if one is there.
    func take() -> UnsafeMutablePointer<State>? {
        for place in 0..<Self.placesMax {
            guard unsafe places[place].load(ordering: .relaxed) != 0 else { continue }
            let word = unsafe places[place].exchange(0, ordering: .acquiring)
            if word != 0 { return unsafe UnsafeMutablePointer(bitPattern: word) }
        }
        return nil
    }

    /// Keeps a state for later; false if there is no place for it.
    func give(_ state: UnsafeMutablePointer<State>) -> Bool {
        let word = UInt(bitPattern: state)
        for place in 0..<Self.placesMax {
            guard unsafe places[place].load(ordering: .relaxed) == 0 else { continue }
            if unsafe places[place].compareExchange(expected: 0, desired: word, ordering: .releasing).exchanged {
                return true
            }
        }
        return false
    }
}

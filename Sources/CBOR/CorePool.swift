import Synchronization

// Unsafe: a state belongs to the coding that took it out by an atomic exchange, or else to the pool.

/// A pool of encoding or decoding states, so that coding a small value allocates nothing.
///
/// Each place is emptied and filled by one atomic exchange, so no thread waits for another. A state is freed if no place is free. A
/// handle of an older value is refused by its serial number when its state serves another value.
@safe struct CorePool<State>: @unchecked Sendable {
    private let places: UnsafeMutablePointer<Atomic<UInt>>
    private static var placesMax: Int { 64 }

    init() {
        unsafe places = .allocate(capacity: Self.placesMax)
        for place in 0..<Self.placesMax { unsafe (places + place).initialize(to: Atomic(0)) }
    }

    /// Returns a state that was given back, or nil if there is none.
    func take() -> UnsafeMutablePointer<State>? {
        for place in 0..<Self.placesMax {
            guard unsafe places[place].load(ordering: .relaxed) != 0 else { continue }
            let word = unsafe places[place].exchange(0, ordering: .acquiring)
            if word != 0 { return unsafe UnsafeMutablePointer(bitPattern: word) }
        }
        return nil
    }

    /// Keeps a state for later. Returns false if no place is free.
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

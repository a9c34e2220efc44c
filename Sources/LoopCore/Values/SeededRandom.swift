/// A small seeded generator (SplitMix64, Steele, Lea and Flood 2014). Equal seeds give equal numbers everywhere.
public struct SeededRandom: RandomNumberGenerator, Equatable, Sendable {
    private var state: UInt64

    /// Creates a generator at the beginning of the seed's sequence. Every number is a valid seed.
    public init(seed: UInt64) { state = seed }

    /// The next number, with 64 random bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    /// A number in `0 ..< 1` with 53 random bits.
    public mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }
}

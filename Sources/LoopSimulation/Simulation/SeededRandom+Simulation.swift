import LoopCore

extension SeededRandom {
    mutating func chance(_ share: Double) -> Bool { fraction() < share }

    /// A number between two limits, both included.
    mutating func between(_ least: UInt64, _ most: UInt64) -> UInt64 {
        most <= least ? least : UInt64.random(in: least...most, using: &self)
    }

    /// A duration between two limits, in nanoseconds.
    mutating func between(_ least: Duration, _ most: Duration) -> UInt64 {
        between(UInt64(least.wholeNanoseconds), UInt64(most.wholeNanoseconds))
    }

    /// A number from 0 up to, but not including, the count. A count of one draws nothing.
    mutating func pick(_ count: Int) -> Int { count == 1 ? 0 : Int.random(in: 0..<count, using: &self) }
}

import CMeter

/// Counts what is done within its measured parts: allocations by itself, instructions by a profiler that collects within
/// `loop_meter` only.
struct Meter {
    /// Whether measured parts count yet; they do not while a case warms up.
    var isRunning = false
    private(set) var allocations: UInt64 = 0

    /// Runs a part, measured if the meter is running.
    mutating func measure(_ part: () -> Void) {
        guard isRunning else { return part() }
        let before = loop_meter_allocations()
        withoutActuallyEscaping(part) { part in
            var part = part
            withUnsafeMutablePointer(to: &part) { address in
                loop_meter({ $0?.assumingMemoryBound(to: (() -> Void).self).pointee() }, address)
            }
        }
        allocations += loop_meter_allocations() - before
    }
}

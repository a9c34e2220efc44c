// Unsafe: the address of the closure is valid until `loop_meter` returns, which calls it once.

import CMeter

/// Counts the cost of measured parts. It counts allocations itself; a profiler that collects only within `loop_meter`
/// counts instructions.
struct Meter {
    /// Whether measured parts count. False while a case warms up.
    var isRunning = false
    private(set) var allocations: UInt64 = 0

    /// Runs a part, measured if the meter is running.
    mutating func measure(_ part: () -> Void) {
        guard isRunning else { return part() }
        let before = loop_meter_allocations()
        withoutActuallyEscaping(part) { part in
            var part = part
            unsafe withUnsafeMutablePointer(to: &part) { address in
                unsafe loop_meter({ unsafe $0?.assumingMemoryBound(to: (() -> Void).self).pointee() }, address)
            }
        }
        allocations += loop_meter_allocations() - before
    }
}

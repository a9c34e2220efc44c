internal import CMemory

/// Room for many small values that are about to be made.
///
/// The C library grows the memory of every thread but the first by one page at a time, with a call of the system for each. A
/// larger block that is taken and given back makes it grow at once, and stay as large. (glibc, `sysmalloc` and `heap_trim`.)
enum HeapReservation {
    /// Small enough that the C library does not ask the system for a mapping of its own.
    private static let blockBytes = 96 << 10
    private static let blocksMax = 16

    /// - Parameter byteCount: how much is about to be taken; room for at most 1.5 MiB is made.
    static func make(_ byteCount: Int) {
        let count = min(byteCount / blockBytes, blocksMax)
        guard count > 0 else { return }
        withUnsafeTemporaryAllocation(of: UnsafeMutableRawPointer?.self, capacity: count) { blocks in
            for index in blocks.indices { blocks.initializeElement(at: index, to: malloc(blockBytes)) }
            for block in blocks { free(block) }
        }
    }
}

internal import CMemory

// Unsafe: each block that is taken is given back, and none is read or written.

/// Memory for many small values that are about to be made.
///
/// glibc grows the memory of every thread but the first by one page at a time, with a call of the system for each. A larger block
/// that is taken and given back makes it grow at once, and stay as large (`sysmalloc` and `heap_trim`). Other systems do without.
package enum HeapReservation {
    /// Small enough that the C library does not ask the system for a mapping of its own.
    private static let blockBytes = 96 << 10
    private static let blocksMax = 16

    /// - Parameter byteCount: how much is about to be taken; at most 1.5 MiB are reserved.
    package static func make(_ byteCount: Int) {
        #if canImport(Glibc) && !PORTABLE
            var blocks: [UnsafeMutableRawPointer?] = unsafe []
            for _ in 0..<min(byteCount / blockBytes, blocksMax) { unsafe blocks.append(malloc(blockBytes)) }
            unsafe blocks.forEach { unsafe free($0) }
        #endif
    }
}

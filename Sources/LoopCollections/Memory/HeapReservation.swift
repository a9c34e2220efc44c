internal import CMemory

// Unsafe: each block is freed after its allocation, and none is read or written.

/// Reserves memory for many small values that are about to be made.
///
/// glibc grows the memory of every thread but the first by one page at a time, with a system call for each. If a larger block is
/// allocated and freed, the memory grows at once and stays large (`sysmalloc` and `heap_trim`). Other systems do without.
package enum HeapReservation {
    /// Small enough that the C library does not request a separate mapping.
    private static let blockBytes = 96 << 10
    private static let blocksMax = 16

    /// - Parameter byteCount: how many bytes will be allocated; at most 1.5 MiB are reserved.
    package static func make(_ byteCount: Int) {
        #if canImport(Glibc) && !PORTABLE
            var blocks: [UnsafeMutableRawPointer?] = unsafe []
            for _ in 0..<min(byteCount / blockBytes, blocksMax) { unsafe blocks.append(malloc(blockBytes)) }
            unsafe blocks.forEach { unsafe free($0) }
        #endif
    }
}

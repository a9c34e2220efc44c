internal import CMemory

// Unsafe: the address is only a hint, and is never read.

/// What will be needed soon, and was not touched for long, is fetched while something else is done: otherwise a program waits for
/// each chunk of memory after the other.
@usableFromInline
package enum ProcessorCache {
    /// Begins to fetch the 64 bytes around an address, which may be any; they will be read and changed.
    @usableFromInline
    package static func fetch(_ address: UnsafeRawPointer?) { unsafe loop_prefetch(address) }

    /// Begins to fetch the head of an array and its first bytes. An array is counted by whoever looks into it, and the count stands in
    /// the memory that this must not wait for; so it only looks where that is.
    @inlinable
    package static func fetch(_ array: borrowing [UInt8]) {
        unsafe fetch(UnsafeRawPointer(bitPattern: unsafeBitCast(copy array, to: UInt.self)))
    }
}

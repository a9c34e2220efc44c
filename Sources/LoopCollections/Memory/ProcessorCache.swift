internal import CMemory

// Unsafe: the address is only a hint, and is never read.

/// Fetches memory that will be needed soon, while other work is done. Otherwise a program would wait for one cache line after the
/// other.
@usableFromInline
package enum ProcessorCache {
    /// Starts to fetch the 64 bytes around an address, to be read and changed. Any address is allowed.
    @usableFromInline
    package static func fetch(_ address: UnsafeRawPointer?) { unsafe loop_prefetch(address) }

    /// Starts to fetch an element of an array. Any index is allowed.
    @inlinable
    package static func fetch<Element>(_ array: [Element], at index: Int) {
        guard index >= 0, index < array.count else { return }
        unsafe array.withUnsafeBufferPointer { unsafe fetch($0.baseAddress.map { unsafe $0 + index }) }
    }

    /// Starts to fetch the head of an array and its first bytes. It takes only the address, because reading an array changes its
    /// reference count, which is in the memory that this must not wait for.
    @inlinable
    package static func fetch(_ array: borrowing [UInt8]) {
        unsafe fetch(UnsafeRawPointer(bitPattern: unsafeBitCast(copy array, to: UInt.self)))
    }
}

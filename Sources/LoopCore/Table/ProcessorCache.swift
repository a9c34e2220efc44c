internal import CMemory

/// What will be needed soon, and was not touched for long, is fetched while something else is done: otherwise a program waits for
/// each piece of memory after the other.
@usableFromInline
package enum ProcessorCache {
    /// Begins to fetch the 64 bytes around an address, which may be any; they will be read and changed.
    @usableFromInline
    package static func fetch(_ address: UnsafeRawPointer?) { loop_prefetch(address) }
}

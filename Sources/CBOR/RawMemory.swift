internal import CMemory

// Unsafe: memory belongs to whoever asked for it, who says how large it is and frees it.

/// Memory that grows. On Linux a large piece grows where it is, by the system's page tables, without its bytes being read.
enum RawMemory {
    /// Memory of `size` bytes with what `memory` of `old` bytes held, which is gone; new memory for nil.
    static func resized(
        _ memory: UnsafeMutableRawPointer?, from old: Int, to size: Int
    ) -> UnsafeMutableRawPointer {
        #if os(Linux) && !PORTABLE
            unsafe loop_memory_resize(memory, old, size)
        #else
            guard let resized = unsafe realloc(memory, max(size, 1)) else { fatalError("no memory for \(size) bytes") }
            return unsafe resized
        #endif
    }

    static func free(_ memory: UnsafeMutableRawPointer, _ size: Int) {
        #if os(Linux) && !PORTABLE
            unsafe loop_memory_free(memory, size)
        #else
            unsafe CMemory.free(memory)
        #endif
    }
}

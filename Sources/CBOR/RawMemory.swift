internal import CMemory

// Unsafe: the caller that gets the memory owns it, knows its size and frees it.

/// Memory that grows. On Linux a large piece is remapped by the system's page tables, so that its bytes are not copied.
enum RawMemory {
    /// Returns memory of `size` bytes with the content of `memory`, which has `old` bytes and is invalid afterwards. Nil makes new
    /// memory.
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

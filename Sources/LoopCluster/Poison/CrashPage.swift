/// The memory of a crash note. A note is a view of memory that outlives a process, so it takes a pointer; the page owns what
/// that points to, and its user keeps the page for as long as a note of it.
package struct CrashPage: ~Copyable {
    private let memory: UnsafeMutableRawBufferPointer

    package init() {
        memory = .allocate(byteCount: CrashNote.byteCount, alignment: 8)
        memory.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit { memory.deallocate() }

    package var note: CrashNote { CrashNote(memory) }

    package var bytes: [UInt8] {
        get { Array(memory) }
        nonmutating set { memory.copyBytes(from: newValue) }
    }

    /// What a signal handler writes.
    package func leave(signal: UInt64) {
        memory.storeBytes(of: signal << 32 | 1, toByteOffset: CrashNote.faultOffset, as: UInt64.self)
    }
}

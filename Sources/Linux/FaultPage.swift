// Unsafe: this value owns the mapping and the stack, and unmaps them once. Handlers write into the mapping only while it exists.

internal import CLinux
internal import Glibc

/// A file mapped into memory. A fault of this process (a trap or a stack overflow) is written to it before the process ends. The
/// system keeps the bytes without a sync.
///
/// Make it on the thread whose stack may overflow.
@safe package struct FaultPage: ~Copyable {
    /// The whole file. Valid as long as this value.
    @unsafe package let memory: UnsafeMutableRawBufferPointer
    /// The kernel's number of the thread that has made this value.
    package let thread: UInt32
    private let word: UnsafeMutablePointer<UInt64>
    private let stack: UnsafeMutableRawPointer
    private static let stackBytes = 128 << 10

    /// Opens the file, or creates it.
    /// - Parameters:
    ///   - name: the name in errors: `the crash note PATH`.
    ///   - byteCount: the size that the file gets, in bytes.
    ///   - faultOffset: the offset of the 8 bytes that a fault is written to: the signal and the thread.
    /// - Throws: ``SystemError``, also if the file is not this user's alone: another user could shorten it, and so end this
    ///   process.
    package init(_ path: String, name: String, byteCount: Int, faultOffset: Int) throws(SystemError) {
        let file: Descriptor
        do throws(OpeningError) {
            file = try Descriptor.checked(path, O_RDWR | O_CREAT)
        } catch {
            switch error {
            case .system(let error): throw SystemError("open \(name)", code: error.code)
            case .flaw(let flaw, _): throw SystemError("use \(name)", flaw, path)
            }
        }
        // The whole page is written before it is mapped, because a store into a hole on a full disk would end the process.
        var size = try file.status().size
        let zeros = [UInt8](repeating: 0, count: byteCount)
        while size < byteCount {
            do {
                size += try file.write(zeros, size..<byteCount, at: size)
            } catch {
                throw SystemError(
                    "write \(name)", code: error.code, hint: "it needs \(byteCount) bytes in the folder of the journal")
            }
        }
        let mapped = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0)
        guard let mapped = unsafe mapped, unsafe mapped != MAP_FAILED else { throw SystemError("map \(name)") }
        let stack = unsafe mmap(nil, Self.stackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let stack = unsafe stack, unsafe stack != MAP_FAILED else {
            let code = errno
            unsafe munmap(mapped, byteCount)
            throw SystemError("make a stack for signal handlers", code: code)
        }
        unsafe self.stack = stack
        unsafe memory = UnsafeMutableRawBufferPointer(start: mapped, count: byteCount)
        unsafe word = (mapped + faultOffset).assumingMemoryBound(to: UInt64.self)
        thread = loop_thread_id()
        _ = unsafe loop_signal_stack(stack, Self.stackBytes)
        unsafe loop_watch_faults(word)
    }

    deinit {
        unsafe loop_unwatch_faults(word)
        unsafe munmap(memory.baseAddress, memory.count)
        // The handlers of another thread may use this stack for ever.
        if loop_thread_id() == thread {
            _ = loop_signal_stack(nil, 0)
            unsafe munmap(stack, Self.stackBytes)
        }
    }
}

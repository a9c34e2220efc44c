// Unsafe: the system writes a file's status into a local variable.

internal import CLinux
internal import Glibc

/// Finds the descriptors by which a library has opened a file in this process, and locks bytes by them.
public enum OpenFiles {
    /// The descriptors of this process that lead to a file.
    public static func descriptors(of file: FileStatus) -> [Int32] {
        let names = (try? FileSystem.names(in: "/proc/self/fd")) ?? []
        return names.compactMap(Int32.init).filter { number in
            var status = stat()
            guard unsafe fstat(number, &status) == 0 else { return false }
            return FileStatus(status).isSame(as: file)
        }
    }

    /// Whether a descriptor may be written to.
    public static func isWritable(_ descriptor: Int32) -> Bool {
        fcntl(descriptor, F_GETFL) & O_ACCMODE == O_RDWR
    }

    /// Locks one byte of an open file until it is unlocked or the descriptor is closed. It does not wait.
    /// - Returns: the errno if the system refuses, or nil if the byte is now locked.
    public static func lock(_ descriptor: Int32, byte: Int) -> Int32? {
        let code = loop_lock_byte(descriptor, off_t(byte), 1)
        return code == 0 ? nil : code
    }

    /// Ends a lock, also in a child process that has inherited the descriptor.
    public static func unlock(_ descriptor: Int32, byte: Int) { _ = loop_lock_byte(descriptor, off_t(byte), 0) }

    /// Whether another descriptor has the byte locked, in any process.
    public static func isLocked(_ descriptor: Int32, byte: Int) -> Bool {
        loop_is_byte_locked(descriptor, off_t(byte)) == 1
    }
}

// Unsafe: the system writes a file's status into a local variable.

internal import CLinux
internal import Glibc

/// Files that this process has open by descriptors of other owners, such as a library.
package enum OpenFiles {
    /// The descriptors of this process that lead to a file.
    package static func descriptors(of file: FileStatus) -> [Int32] {
        let names = (try? FileSystem.names(in: "/proc/self/fd")) ?? []
        return names.compactMap(Int32.init).filter { number in
            var status = stat()
            guard unsafe fstat(number, &status) == 0 else { return false }
            return FileStatus(status).isSame(as: file)
        }
    }

    /// Whether a descriptor may be written to.
    package static func isWritable(_ descriptor: Int32) -> Bool {
        fcntl(descriptor, F_GETFL) & O_ACCMODE == O_RDWR
    }

    /// Locks one byte of an open file until it is unlocked or the descriptor is closed. Does not wait.
    /// - Returns: the code of the system's error, or nil if the byte is locked now.
    package static func lock(_ descriptor: Int32, byte: Int) -> Int32? {
        let code = loop_lock_byte(descriptor, off_t(byte), 1)
        return code == 0 ? nil : code
    }

    /// Releases a lock, also for a child process that has the descriptor.
    package static func unlock(_ descriptor: Int32, byte: Int) { _ = loop_lock_byte(descriptor, off_t(byte), 0) }

    /// Whether the byte is locked through another descriptor, in any process.
    package static func isLocked(_ descriptor: Int32, byte: Int) -> Bool {
        loop_is_byte_locked(descriptor, off_t(byte)) == 1
    }
}

// Unsafe: the system uses what it is passed only during the call, and no more bytes than the count says.

internal import CLinux
internal import Glibc

/// An open file, pipe or other object with a descriptor. It is closed when its owner is released.
package struct Descriptor: ~Copyable, Sendable {
    /// The system's number, for poll sets. Valid as long as the owner.
    package let number: Int32
    /// The name in errors: a path, or "a pipe".
    private let name: String

    /// Takes ownership of a descriptor.
    /// - Parameter name: its name in errors.
    package init(_ number: Int32, name: String) {
        self.number = number
        self.name = name
    }

    /// Opens a file. No other program inherits the descriptor.
    /// - Throws: ``SystemError`` that names the path.
    package init(opening path: String, _ flags: Int32, mode: UInt32 = 0o644) throws(SystemError) {
        let number = unsafe open(path, flags | O_CLOEXEC, mode)
        guard number >= 0 else { throw SystemError("open \(path)") }
        self.init(number, name: path)
    }

    /// Opens a file whose name need not be UTF-8. No other program inherits the descriptor.
    /// - Throws: ``SystemError`` that names the path.
    package init(opening path: [UInt8], _ flags: Int32) throws(SystemError) {
        let name = String(decoding: path, as: UTF8.self)
        let number = unsafe open(path.map { CChar(bitPattern: $0) } + [0], flags | O_CLOEXEC)
        guard number >= 0 else { throw SystemError("open \(name)") }
        self.init(number, name: name)
    }

    /// Opens a file without following a symbolic link or waiting for a pipe. The open file is checked before anything in it is
    /// changed.
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - flags: the flags of the system's call.
    ///   - mode: the permissions of a file that is created, whatever the umask of the process.
    ///   - flaw: the reason against using the file; by default, the reason against relying on it.
    /// - Throws: ``OpeningError``.
    package static func checked(
        _ path: String, _ flags: Int32, mode: UInt32 = 0o600, flaw: (FileStatus) -> FileFlaw? = { $0.flaw() }
    ) throws(OpeningError) -> Descriptor {
        let file = try naming(path) { () throws(SystemError) in
            try openedOrMade(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode)
        }
        let found = try naming(path) { () throws(SystemError) in try file.status() }
        if let flaw = flaw(found) { throw .flaw(flaw, path) }
        if flags & O_TRUNC != 0 { try naming(path) { () throws(SystemError) in try file.truncate(to: 0) } }
        return file
    }

    private static func naming<Result: ~Copyable>(
        _ path: String, _ body: () throws(SystemError) -> Result
    ) throws(OpeningError) -> Result {
        do throws(SystemError) {
            return try body()
        } catch {
            throw OpeningError(error, path)
        }
    }

    private static func openedOrMade(_ path: String, _ flags: Int32, _ mode: UInt32) throws(SystemError) -> Descriptor {
        do throws(SystemError) {
            return try Descriptor(opening: path, flags & ~(O_CREAT | O_EXCL | O_TRUNC))
        } catch {
            guard error.code == ENOENT, flags & O_CREAT != 0 else { throw error }
        }
        // A file that another process has created meanwhile is an error.
        let file = try Descriptor(opening: path, flags | O_EXCL, mode: mode)
        guard fchmod(file.number, mode) == 0 else { throw SystemError("say who may use \(path)") }
        return file
    }

    deinit { close(number) }

    /// Creates an eventfd. No other program inherits it, and it never waits.
    /// - Throws: ``SystemError`` if no descriptor is left.
    package static func event() throws(SystemError) -> Descriptor {
        let number = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard number >= 0 else { throw SystemError("create an eventfd", code: errno, hint: "raise `ulimit -n`") }
        return Descriptor(number, name: "an eventfd")
    }

    /// Makes an eventfd readable.
    package func signal() {
        // EAGAIN means that the counter is full, so it is readable already.
        while eventfd_write(number, 1) < 0 && errno == EINTR {}
    }

    /// Makes an eventfd unreadable until the next signal.
    package func drain() {
        var count: eventfd_t = 0
        while unsafe eventfd_read(number, &count) < 0 && errno == EINTR {}
    }

    /// The status of the open file.
    /// - Throws: ``SystemError``.
    package func status() throws(SystemError) -> FileStatus {
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else { throw SystemError("look at \(name)") }
        return FileStatus(status)
    }

    /// The path of the open file as the system knows it, or nil if `/proc` is not mounted.
    package var path: [UInt8]? { FileSystem.byteLink(at: "/proc/self/fd/\(number)") }

    /// The bytes of the file from an offset on, up to `limit`. The position of the descriptor does not change.
    /// - Throws: ``SystemError``.
    package func bytes(atMost limit: Int, from offset: Int = 0) throws(SystemError) -> [UInt8] {
        var code: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, filled in
            while filled < limit {
                let count = unsafe pread(
                    number, buffer.baseAddress.map { unsafe $0 + filled }, limit - filled,
                    off_t(offset + filled))
                if count < 0, errno == EINTR { continue }
                if count < 0 { code = errno }
                guard count > 0 else { break }
                filled += count
            }
        }
        guard code == 0 else { throw SystemError("read \(name)", code: code) }
        return bytes
    }

    /// Writes a part of an array at an offset of the file.
    /// - Returns: how many bytes were written, at least 1.
    /// - Throws: ``SystemError``.
    package func write(_ bytes: [UInt8], _ range: Range<Int>, at offset: Int) throws(SystemError) -> Int {
        while true {
            let count = unsafe bytes[range].withUnsafeBytes {
                unsafe pwrite(number, $0.baseAddress, $0.count, off_t(offset))
            }
            if count > 0 { return count }
            guard count < 0, errno == EINTR else {
                throw SystemError("write \(name)", code: count < 0 ? errno : ENOSPC)
            }
        }
    }

    /// Changes the size of the file.
    /// - Throws: ``SystemError``.
    package func truncate(to size: Int) throws(SystemError) {
        guard ftruncate(number, off_t(size)) == 0 else { throw SystemError("write \(name)") }
    }

    /// Starts to write the file's changes to the disk without waiting. This is not a sync.
    package func beginWriteOut() { loop_begin_write_out(number) }

    /// Waits until the changes of a part of the file have been submitted to the disk. This is not a sync.
    /// - Throws: ``SystemError``.
    package func writeOut(_ range: Range<Int>) throws(SystemError) {
        let code = loop_write_out(number, off_t(range.lowerBound), off_t(range.count))
        guard code == 0 else { throw SystemError("write \(name)", code: code) }
    }

    /// Syncs the file to the disk.
    /// - Throws: ``SystemError``.
    package func sync() throws(SystemError) {
        guard fsync(number) == 0 else { throw SystemError("sync \(name)") }
    }
}

/// Calls on descriptors that have another owner, such as a process's standard output.
package enum SystemCall {
    /// Writes all bytes, however long that takes.
    /// - Throws: ``SystemError`` if the reader is gone, or if the disk is full.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            do {
                done += try writeSome(bytes[done...], to: descriptor)
            } catch  where error.code == EAGAIN {
                var watched = [Poll.item(descriptor, POLLOUT)]
                Poll.wait(&watched)
            }
        }
    }

    /// Writes as many bytes as there is space for.
    /// - Returns: the number of bytes written.
    /// - Throws: ``SystemError``, with the code EAGAIN if there is no space and the descriptor does not wait.
    package static func writeSome(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) throws(SystemError) -> Int {
        while true {
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 { return count }
            guard errno == EINTR else { throw SystemError("write") }
        }
    }

    /// Reads the available bytes, at most a buffer full.
    /// - Returns: the number of bytes read, or 0 at the end.
    /// - Throws: ``SystemError``, with the code EAGAIN if there are none and the descriptor does not wait.
    package static func read(from descriptor: Int32, into buffer: inout [UInt8]) throws(SystemError) -> Int {
        while true {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            if count >= 0 { return count }
            guard errno == EINTR else { throw SystemError("read") }
        }
    }

    /// Reads to the end, or at most `limit` bytes.
    /// - Throws: ``SystemError``.
    package static func readAll(from descriptor: Int32, atMost limit: Int = .max) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count < limit, case let count = try read(from: descriptor, into: &buffer), count > 0 {
            bytes += buffer[..<min(count, limit - bytes.count)]
        }
        return bytes
    }

    /// Sends as many bytes as a socket has space for. If the connection is gone, it raises no signal.
    /// - Returns: the number of bytes sent.
    /// - Throws: ``SystemError``.
    package static func send(_ bytes: ArraySlice<UInt8>, to socket: Int32) throws(SystemError) -> Int {
        let count = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count >= 0 else { throw SystemError("send") }
        return count
    }
}

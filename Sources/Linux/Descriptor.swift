// Unsafe: the system uses what it is passed only during the call, and no more of it than it is told.

internal import CLinux
internal import Glibc

/// An open file, pipe or other thing that the system counts by numbers. It is closed when its owner goes.
public struct Descriptor: ~Copyable, Sendable {
    /// The system's number, for poll sets. Valid as long as the owner.
    public let number: Int32
    /// How errors call it: a path, or "a pipe".
    private let name: String

    /// Takes a descriptor over.
    /// - Parameter name: how errors call it.
    public init(_ number: Int32, name: String) {
        self.number = number
        self.name = name
    }

    /// Opens a file. No other program inherits it.
    /// - Throws: ``SystemError`` that names the path.
    public init(opening path: String, _ flags: Int32, mode: UInt32 = 0o644) throws(SystemError) {
        let number = unsafe open(path, flags | O_CLOEXEC, mode)
        guard number >= 0 else { throw SystemError("open \(path)") }
        self.init(number, name: path)
    }

    /// Opens a file by its own name: a symbolic link is not followed, and a pipe is not waited for. What was opened is looked at
    /// before anything of it is changed.
    /// - Parameters:
    ///   - path: the file.
    ///   - flags: as of the system's call.
    ///   - mode: who may do what with a file that is made, whatever the umask of the process.
    ///   - flaw: what speaks against the file; by default, what speaks against relying on it.
    /// - Throws: ``OpeningError``.
    public static func checked(
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
        // One that another process has made meanwhile is an error.
        let file = try Descriptor(opening: path, flags | O_EXCL, mode: mode)
        guard fchmod(file.number, mode) == 0 else { throw SystemError("say who may use \(path)") }
        return file
    }

    deinit { close(number) }

    /// An eventfd, which no other program inherits, and which never waits.
    /// - Throws: ``SystemError`` if no descriptor is left.
    public static func event() throws(SystemError) -> Descriptor {
        let number = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard number >= 0 else { throw SystemError("create an eventfd", code: errno, hint: "raise `ulimit -n`") }
        return Descriptor(number, name: "an eventfd")
    }

    /// Makes an eventfd readable.
    public func signal() {
        // EAGAIN: the counter is full, so it is readable already.
        while eventfd_write(number, 1) < 0 && errno == EINTR {}
    }

    /// Makes an eventfd unreadable until the next signal.
    public func drain() {
        var count: eventfd_t = 0
        while unsafe eventfd_read(number, &count) < 0 && errno == EINTR {}
    }

    /// What the system says of the open file.
    /// - Throws: ``SystemError``.
    public func status() throws(SystemError) -> FileStatus {
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else { throw SystemError("look at \(name)") }
        return FileStatus(status)
    }

    /// The path of the open file as the system knows it, nil where `/proc` is not mounted.
    public var path: String? { FileSystem.link(at: "/proc/self/fd/\(number)") }

    /// The first bytes of the file, up to `limit`. The position of the descriptor stays.
    /// - Throws: ``SystemError``.
    public func bytes(atMost limit: Int) throws(SystemError) -> [UInt8] {
        var code: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, filled in
            while filled < limit {
                let count = unsafe pread(
                    number, buffer.baseAddress.map { unsafe $0 + filled }, limit - filled, off_t(filled))
                if count < 0, errno == EINTR { continue }
                if count < 0 { code = errno }
                guard count > 0 else { break }
                filled += count
            }
        }
        guard code == 0 else { throw SystemError("read \(name)", code: code) }
        return bytes
    }

    /// Writes a part of an array at a place of the file.
    /// - Returns: how many bytes were written, at least 1.
    /// - Throws: ``SystemError``.
    public func write(_ bytes: [UInt8], _ range: Range<Int>, at offset: Int) throws(SystemError) -> Int {
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
    public func truncate(to size: Int) throws(SystemError) {
        guard ftruncate(number, off_t(size)) == 0 else { throw SystemError("write \(name)") }
    }

    /// Sends what was written to the file on its way to the disk, and waits for nothing. Not a sync.
    public func beginWriteOut() { loop_begin_write_out(number) }

    /// Waits until a part of the file that was written is on its way to the disk. Not a sync.
    /// - Throws: ``SystemError``.
    public func writeOut(_ range: Range<Int>) throws(SystemError) {
        let code = loop_write_out(number, off_t(range.lowerBound), off_t(range.count))
        guard code == 0 else { throw SystemError("write \(name)", code: code) }
    }

    /// Brings the file to the disk.
    /// - Throws: ``SystemError``.
    public func sync() throws(SystemError) {
        guard fsync(number) == 0 else { throw SystemError("sync \(name)") }
    }
}

/// Calls on descriptors that have another owner, such as a process's standard output.
public enum SystemCall {
    /// Writes everything, however long that takes.
    /// - Throws: ``SystemError`` if the reader is gone, or if the disk is full.
    public static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
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

    /// Writes what there is space for.
    /// - Returns: how many bytes that is.
    /// - Throws: ``SystemError``; with the code EAGAIN if there is no space and the descriptor does not wait.
    public static func writeSome(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) throws(SystemError) -> Int {
        while true {
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 { return count }
            guard errno == EINTR else { throw SystemError("write") }
        }
    }

    /// Reads what is there, at most a buffer full.
    /// - Returns: how many bytes that is; 0 at the end.
    /// - Throws: ``SystemError``; with the code EAGAIN if there is nothing and the descriptor does not wait.
    public static func read(from descriptor: Int32, into buffer: inout [UInt8]) throws(SystemError) -> Int {
        while true {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            if count >= 0 { return count }
            guard errno == EINTR else { throw SystemError("read") }
        }
    }

    /// Reads to the end, but not more than `limit` bytes.
    /// - Throws: ``SystemError``.
    public static func readAll(from descriptor: Int32, atMost limit: Int = .max) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count < limit, case let count = try read(from: descriptor, into: &buffer), count > 0 {
            bytes += buffer[..<min(count, limit - bytes.count)]
        }
        return bytes
    }

    /// Sends what a socket has space for. A connection that is gone costs no signal.
    /// - Returns: how many bytes that is.
    /// - Throws: ``SystemError``.
    public static func send(_ bytes: ArraySlice<UInt8>, to socket: Int32) throws(SystemError) -> Int {
        let count = unsafe bytes.withUnsafeBytes {
            unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count >= 0 else { throw SystemError("send") }
        return count
    }
}

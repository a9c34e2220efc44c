internal import CLinux
internal import Glibc
public import LoopCluster
public import LoopWire

/// The crash note of a reducer, in a file beside its journal that is mapped into memory: the system keeps what was written
/// there when the process ends, without a sync. (Protocol, section 7.)
///
///     let file = try CrashNoteFile(path: "\(journal).note")     // the journal is locked already
///     if let line = try file.begin(history: journal.history) { log.note(line) }
///     machine.crashNote = file.note
///
/// To be made and used on the reducer's thread. Faults of the process (a trap, a stack that is used up) are written into it
/// while it exists, so that a kill from outside can be told from an event that ends the process.
public struct CrashNoteFile: ~Copyable {
    /// Where the file is.
    public let path: String
    /// Valid as long as the file.
    public let note: CrashNote
    private let memory: UnsafeMutableRawPointer
    private let stack: UnsafeMutableRawPointer
    private let thread: UInt32
    private static let stackBytes = 128 << 10

    /// Opens the file, and makes it where it is not there.
    public init(path: String) throws(SystemError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw SystemError("open the crash note \(path)", code: errno) }
        defer { close(descriptor) }
        try Self.fill(descriptor, path)
        let mapped = mmap(nil, CrashNote.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let mapped, mapped != MAP_FAILED else { throw SystemError("map the crash note \(path)", code: errno) }
        let stack = mmap(nil, Self.stackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let stack, stack != MAP_FAILED else {
            let code = errno
            munmap(mapped, CrashNote.byteCount)
            throw SystemError("make a stack for signal handlers", code: code)
        }
        self.path = path
        self.stack = stack
        memory = mapped
        note = CrashNote(UnsafeMutableRawBufferPointer(start: mapped, count: CrashNote.byteCount))
        thread = loop_thread_id()
        _ = loop_signal_stack(stack, Self.stackBytes)
        loop_watch_faults(Self.faultWord(mapped))
    }

    deinit {
        loop_unwatch_faults(Self.faultWord(memory))
        munmap(memory, CrashNote.byteCount)
        // Another thread's handlers may run there for ever.
        if loop_thread_id() == thread {
            _ = loop_signal_stack(nil, 0)
            munmap(stack, Self.stackBytes)
        }
    }

    /// Judges how the process before ended, and begins a new life.
    /// - Returns: a line for the log, where there is something to say.
    /// - Throws: `NodeError.journal` where this very build ended in the replay of an event.
    public func begin(history: History) throws(NodeError) -> String? {
        switch note.begin(history: history, executable: Self.executable, thread: thread) {
        case .nothing: return nil
        case .suspect(let suspect):
            let sender = suspect.effect.map { " of effect \($0)" } ?? ""
            let next = suspect.crashes > 1 ? "set aside" : "applied in a turn of its own"
            return "the last process ended in \(suspect.phase), at event \(suspect.number) of session"
                + " \(suspect.session)\(sender), \(suspect.crashes == 1 ? "once" : "\(suspect.crashes) times");"
                + " when it comes again it is \(next)"
        case .retry(let id):
            return "the last process ended when quarantined event \(id) was tried again; it stays in quarantine"
        case .fault(let signal, let isOwn):
            return "the last process was ended by \(ProcessExit.signaled(signal)) in"
                + " \(isOwn ? "the reducer's thread, outside of any event" : "another thread than the reducer's")"
        case .replay(let crash):
            let what =
                "the last process ended in \(crash.phase) when it replayed event \(crash.seq) (record \(crash.position))"
            guard crash.mustStop else { return what + "; it is tried again" }
            throw .journal(
                what + ", and this is the same build; an applied event is never left out: start a build that can replay"
                    + " it, such as the one that wrote it, or remove \(path) to try this one once more")
        }
    }

    private static func faultWord(_ memory: UnsafeMutableRawPointer) -> UnsafeMutablePointer<UInt64> {
        (memory + CrashNote.faultOffset).assumingMemoryBound(to: UInt64.self)
    }

    /// The whole page is there before it is mapped: a store into a hole of a full disk would end the process.
    private static func fill(_ descriptor: Int32, _ path: String) throws(SystemError) {
        var information = stat()
        guard fstat(descriptor, &information) == 0 else {
            throw SystemError("look at the crash note \(path)", code: errno)
        }
        var size = Int(information.st_size)
        let zeros = [UInt8](repeating: 0, count: CrashNote.byteCount)
        while size < CrashNote.byteCount {
            let written = pwrite(descriptor, zeros, CrashNote.byteCount - size, off_t(size))
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else {
                throw SystemError(
                    "write the crash note \(path)", code: written < 0 ? errno : ENOSPC,
                    hint: "it needs \(CrashNote.byteCount) bytes beside the journal")
            }
            size += written
        }
    }

    /// Names the program's file: another build, or another copy, is another number.
    static var executable: UInt64 {
        var information = stat()
        guard stat("/proc/self/exe", &information) == 0 else { return 0 }
        var writer = ByteWriter()
        writer.u64(UInt64(truncatingIfNeeded: information.st_dev))
        writer.u64(UInt64(truncatingIfNeeded: information.st_ino))
        writer.u64(UInt64(truncatingIfNeeded: information.st_size))
        writer.u64(UInt64(bitPattern: Int64(information.st_mtim.tv_sec)))
        writer.u64(UInt64(bitPattern: Int64(information.st_mtim.tv_nsec)))
        return StableHash.quick(writer.bytes)
    }
}

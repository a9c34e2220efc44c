// Unsafe: the note is used only while its page is mapped.

import Linux
package import LoopCluster
internal import LoopCollections
package import LoopWire

/// The crash note of a reducer, in a file next to its journal that is mapped into memory. The system keeps what was written
/// there when the process ends, without a sync. (Protocol, section 7.)
///
///     let file = try CrashNoteFile(path: "\(journal)-note")     // the journal is locked already
///     if let line = try file.begin(history: journal.history) { log.note(.crashed, line) }
///     let recovery = try Recovery(definition, from: journal, coder: coder, note: file.note)
///
/// It is made and used on the reducer's thread. While it exists, faults of the process (a trap, a stack overflow) are written
/// into it. So a kill from outside can be distinguished from an event that ends the process.
package struct CrashNoteFile: ~Copyable {
    /// The path of the file.
    package let path: String
    /// The note, which is valid as long as this object.
    package let note: CrashNote
    private let page: FaultPage
    private let watch: StepWatch?

    /// Opens the file, or creates it.
    package init(path: String) throws(SystemError) { try self.init(path: path, watch: nil) }

    /// - Parameter watch: looks at the note while this object exists.
    init(path: String, watch: StepWatch?) throws(SystemError) {
        self.path = path
        self.watch = watch
        page = try FaultPage(
            path, name: "the crash note \(path)", byteCount: CrashNote.byteCount, faultOffset: CrashNote.faultOffset)
        note = unsafe CrashNote(SharedWords(in: page.memory))
        watch?.show(note)
    }

    deinit { watch?.show(nil) }

    /// Judges how the previous process ended, and begins a new life.
    /// - Returns: a line for the log, or nil if there is nothing to say.
    /// - Throws: `NodeError.journal` if this same build ended in the replay of an event.
    package func begin(history: History) throws(NodeError) -> String? {
        switch note.begin(history: history, executable: Self.executable, thread: page.thread) {
        case .nothing: return nil
        case .suspect(let suspect):
            let text = JSONText.onOneLine(note.eventText)
            let event =
                suspect.session == .none ? text : "event \(suspect.number) of session \(suspect.session), \(text)"
            let sender = suspect.effect.map { " of effect \($0)" } ?? ""
            let next = suspect.crashes > 1 ? "set aside" : "applied in a turn of its own"
            return
                "the last process ended in \(suspect.phase), at \(event)\(sender), \(suspect.crashes == 1 ? "once" : "\(suspect.crashes) times");"
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

    /// A hash that identifies the program's file. Another build or another copy has another one.
    static var executable: UInt64 {
        guard let file = FileSystem.status(of: "/proc/self/exe") else { return 0 }
        var writer = ByteWriter()
        writer.u64(file.device)
        writer.u64(file.number)
        writer.u64(UInt64(file.size))
        writer.u64(UInt64(bitPattern: Int64(file.modified.seconds)))
        writer.u64(UInt64(bitPattern: Int64(file.modified.nanoseconds)))
        return StableHash.quick(writer.bytes)
    }
}

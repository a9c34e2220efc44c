// Unsafe: the system uses what it is passed only during the call.

internal import CLinux
internal import Glibc

/// Has SQLite's log on its way to the disk before somebody waits for it.
///
/// Where rows need not outlive a loss of power nobody syncs the log until it is brought into the file. The append that fills
/// it would wait for all of its megabytes then.
struct LogWriteOut: ~Copyable {
    private let descriptor: Int32
    /// As many pages the log had when it was sent on its way.
    private var pages = 0

    /// So many pages of it may be in memory alone.
    private static var pagesMax: Int { Disk.stepBytes / FileLayer().pageBytes }

    /// - Parameter path: of a log that is there; without one nothing is done.
    init(_ path: String) { descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC) }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Takes notice of how many pages the log has now. Waits for nothing; an error is told by the sync that comes later.
    mutating func log(hasPages count: Int) {
        // It began anew.
        if count < pages { pages = 0 }
        guard count - pages >= Self.pagesMax else { return }
        pages = count
        loop_begin_write_out(descriptor)
    }
}

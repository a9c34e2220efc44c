internal import Glibc
internal import Linux

/// Starts writing SQLite's log to the disk before an append waits for it.
///
/// Where rows need not outlive a loss of power, the log is not synced until it is brought into the file. The append that fills
/// it would wait for all of its megabytes then.
struct LogWriteOut: ~Copyable {
    private let log: Descriptor?
    /// As many pages the log had when it was sent on its way.
    private var pages = 0

    /// How many pages of it may be in memory alone.
    private static var pagesMax: Int { Disk.stepBytes / FileLayer().pageBytes }

    /// - Parameter path: of a log that is there; without one nothing is done.
    init(_ path: String) { log = try? Descriptor.checked(path, O_RDONLY) }

    /// Takes notice of how many pages the log has now. Waits for nothing; an error is told by the sync that comes later.
    mutating func log(hasPages count: Int) {
        // It started over.
        if count < pages { pages = 0 }
        guard count - pages >= Self.pagesMax else { return }
        pages = count
        switch log {
        case .some(let log): log.beginWriteOut()
        case nil: break
        }
    }
}

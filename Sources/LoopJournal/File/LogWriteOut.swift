internal import Glibc
internal import Linux

/// Starts writing SQLite's log to the disk before an append waits for it.
///
/// If rows need not survive a loss of power, the log is not synced until it is moved into the file. Without this type, the append
/// that fills the log would wait for all of its megabytes.
struct LogWriteOut: ~Copyable {
    private let log: Descriptor?
    /// The number of pages in the log when its writing was last started.
    private var pages = 0

    /// How many pages of the log may be in memory alone.
    private static var pagesMax: Int { Disk.stepBytes / FileLayer().pageBytes }

    /// - Parameter path: the path of the log. Without a log, this type does nothing.
    init(_ path: String) { log = try? Descriptor.checked(path, O_RDONLY) }

    /// Notes how many pages the log has now. It does not wait. The later sync reports an error.
    mutating func log(hasPages count: Int) {
        // The log has started over.
        if count < pages { pages = 0 }
        guard count - pages >= Self.pagesMax else { return }
        pages = count
        switch log {
        case .some(let log): log.beginWriteOut()
        case nil: break
        }
    }
}

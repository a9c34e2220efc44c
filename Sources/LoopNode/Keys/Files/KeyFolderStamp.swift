internal import Linux

/// The state of the files in a folder of keys at one time, without their contents. If two stamps are equal, there is nothing to
/// read.
public struct KeyFolderStamp: Hashable, Sendable {
    private struct Entry: Hashable, Sendable {
        let path: String
        /// Nil if the file does not exist.
        let look: Look?
    }

    private struct Look: Hashable, Sendable {
        let size: Int
        let seconds, nanoseconds: Int
        let device, number: UInt64
        let owner, permissions: UInt32

        init(_ status: FileStatus) {
            size = status.size
            (seconds, nanoseconds) = status.modified
            (device, number) = (status.device, status.number)
            (owner, permissions) = (status.owner, status.permissions)
        }
    }

    private let entries: [Entry]

    /// Reads the status of these files, or of the targets if they are links.
    init(of paths: [String]) {
        entries = paths.map { path in Entry(path: path, look: FileSystem.status(of: path).map(Look.init)) }
    }
}

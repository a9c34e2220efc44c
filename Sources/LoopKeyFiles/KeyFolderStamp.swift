internal import Linux

/// How the files of a folder of keys looked at one moment, without their contents: two that are equal mean that there is
/// nothing to read.
public struct KeyFolderStamp: Hashable, Sendable {
    private struct Entry: Hashable, Sendable {
        let path: String
        /// Nil where nothing is there.
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

    /// Looks at these files, and at what links lead to.
    init(of paths: [String]) {
        entries = paths.map { path in Entry(path: path, look: FileSystem.status(of: path).map(Look.init)) }
    }
}

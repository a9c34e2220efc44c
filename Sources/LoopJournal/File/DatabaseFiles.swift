package import Linux

/// The files of a database, checked before SQLite opens them and again afterwards.
///
/// SQLite opens files by name and treats what lies next to a database as its parts: a log, or a journal to roll back. So all of
/// them must be files of the same user. The database file is kept open while SQLite opens it. Afterwards its name must still lead
/// to that file, and SQLite's file must have that name.
package struct DatabaseFiles: ~Copyable {
    /// What the database is opened for.
    package enum Purpose: Sendable {
        /// The content is relied on: the files belong to this process's user or to root, and no other user may write to them.
        case writing
        /// The content is only shown.
        case reading
    }

    private let path: String
    private let purpose: Purpose
    private let user: UInt32
    private let held: HeldFile?

    /// - Parameter user: the user who must own the files if they are opened for writing. Root may own them too.
    /// - Throws: `OpeningError` if a file exists and must not be used.
    package init(_ path: String, for purpose: Purpose, user: UInt32 = System.userID) throws(OpeningError) {
        let found = try Self.hold(path)
        try Self.check(path, purpose, user)
        self.user = user
        self.path = path
        self.purpose = purpose
        held = found
    }

    private static func hold(_ path: String) throws(OpeningError) -> HeldFile? {
        do throws(SystemError) {
            return try HeldFile.at(path)
        } catch {
            throw .system(error)
        }
    }

    /// Whether the database existed.
    package var exist: Bool {
        switch held {
        case .some: true
        case nil: false
        }
    }

    /// Checks that SQLite has opened the file that was found. Call it when SQLite has begun to read.
    /// - Parameter hasMoved: whether the file that SQLite has opened has another name by now, or none.
    package func checkAgain(hasMoved: Bool) throws(OpeningError) {
        try Self.check(path, purpose, user)
        let isSame =
            switch held {
            case .some(let held): held.isStill(path)
            case nil: true
            }
        if hasMoved || !isSame { throw .flaw(.replaced, path) }
    }

    private static func check(_ path: String, _ purpose: Purpose, _ user: UInt32) throws(OpeningError) {
        let status = FileSystem.status(ofName: path)
        if let status { try refuse(purpose == .writing ? status.flaw(user: user) : status.flawToRead, path) }
        for ending in ["-wal", "-shm", "-journal"] {
            guard let part = FileSystem.status(ofName: path + ending) else { continue }
            switch purpose {
            case .writing: try refuse(part.flaw(user: user), path + ending)
            // The files belong together only if one user owns them.
            case .reading:
                try refuse(part.flawToRead ?? part.flawOfOwner(user: status?.owner ?? part.owner), path + ending)
            }
        }
    }

    private static func refuse(_ flaw: FileFlaw?, _ path: String) throws(OpeningError) {
        if let flaw { throw .flaw(flaw, path) }
    }

    /// A warning for people, or nil if no other user may change what is in the database.
    package static func warning(of path: String) -> String? {
        if let flaw = FileSystem.status(ofName: path)?.flawOfPermissions {
            return "\(path) \(flaw.text); \(flaw.remedy(path))"
        }
        let folder = Disk.folder(of: path)
        guard let status = FileSystem.status(of: folder), status.permissions & 0o1002 == 0o002 else { return nil }
        let mode = String(status.permissions, radix: 8)
        return "other users can replace files in \(folder) (mode \(mode)), such as \(path): "
            + "chmod o-w \(folder.shellWord)"
    }
}

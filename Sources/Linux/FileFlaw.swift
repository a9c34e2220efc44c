internal import CLinux
internal import Glibc

/// The reason why a file or folder is not accepted under its name.
///
/// A name may lead anywhere. The opened file is checked, so that a later change of the name has no effect.
package enum FileFlaw: Hashable, Sendable {
    /// The file is a symbolic link, which may lead to any other file.
    case link
    /// The file is a folder, a pipe, a device or a socket.
    case noFile
    /// It is not a folder.
    case noFolder
    /// The file has more than one name, so others may use it under another one.
    case names(Int)
    /// It belongs to another user, who can change it at any time.
    case owner(UInt32, user: UInt32)
    /// Other users can write to it.
    case writableByOthers(permissions: UInt32)
    /// Another file has taken its name while it was being opened.
    case replaced

    /// What is wrong, as a text that follows the path.
    package var text: String {
        switch self {
        case .link: "is a symbolic link"
        case .noFile: "is no regular file"
        case .noFolder: "is no folder"
        case .names(let count): "has \(count) names (hard links)"
        case .owner(let owner, let user): "belongs to user \(owner), and this process is of user \(user)"
        case .writableByOthers(let permissions):
            "can be changed by other users (mode \(String(permissions, radix: 8)))"
        case .replaced: "was replaced by another file while it was opened"
        }
    }

    /// What to do about it.
    package func remedy(_ path: String) -> String {
        switch self {
        case .link: "give the path that it leads to"
        case .noFile, .noFolder: "give another path, or move it away"
        case .names: "remove the other names, or use a copy: cp \(path.shellWord) …"
        case .owner(_, let user): "run as its owner, or change that: chown \(user) \(path.shellWord)"
        case .writableByOthers: "if what is in it can be trusted: chmod go-w \(path.shellWord)"
        case .replaced: "see who may write to its folder, and start again"
        }
    }
}

extension FileStatus {
    /// The reason against reading the file by its name, or nil.
    package var flawToRead: FileFlaw? {
        if isLink { return .link }
        if kind != .file { return .noFile }
        return links == 1 ? nil : .names(links)
    }

    /// The reason against relying on the file's bytes and changing them, or nil.
    /// - Parameter user: the user who may own it, besides root.
    package func flaw(user: UInt32 = System.userID) -> FileFlaw? {
        flawToRead ?? flawOfOwner(user: user) ?? flawOfPermissions
    }

    /// The reason against relying on a folder's contents, or nil.
    /// - Parameter user: the user who may own it, besides root.
    package func flawOfFolder(user: UInt32 = System.userID) -> FileFlaw? {
        if isLink { return .link }
        return kind == .folder ? flawOfOwner(user: user) ?? flawOfPermissions : .noFolder
    }

    /// The flaw that it belongs to another user, or nil.
    /// - Parameter user: the user who may own it, besides root.
    package func flawOfOwner(user: UInt32) -> FileFlaw? {
        owner == user || owner == 0 ? nil : .owner(owner, user: user)
    }

    /// The flaw that other users can write to it, or nil.
    package var flawOfPermissions: FileFlaw? {
        permissions & 0o022 == 0 ? nil : .writableByOthers(permissions: permissions)
    }
}

/// A file could not be opened, or is not what its name says.
package enum OpeningError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system has refused to open it.
    case system(SystemError)
    /// The file at that path has a flaw.
    case flaw(FileFlaw, String)

    /// Makes flaws of the codes by which the system reports a flaw before the file is open.
    init(_ error: SystemError, _ path: String) {
        self =
            switch error.code {
            case ELOOP: .flaw(.link, path)
            case EISDIR, ENXIO: .flaw(.noFile, path)
            default: .system(error)
            }
    }

    /// One line: the path, what is wrong with it, and what to do.
    package var description: String {
        switch self {
        case .system(let error): error.description
        case .flaw(let flaw, let path): "\(path) \(flaw.text); \(flaw.remedy(path))"
        }
    }
}

/// A file that is referenced without being opened. Nothing is read or changed, no pipe is waited for, and this process's locks on
/// the file stay. While the reference exists, no other file gets its number.
package struct HeldFile: ~Copyable, Sendable {
    private let descriptor: Descriptor
    /// The status at the time when the file was found. A symbolic link is not followed.
    package let status: FileStatus

    private init(_ descriptor: consuming Descriptor, _ status: FileStatus) {
        self.descriptor = descriptor
        self.status = status
    }

    /// References the file that has a name now.
    /// - Returns: nil if nothing has that name.
    /// - Throws: ``SystemError`` that names the path.
    package static func at(_ path: String) throws(SystemError) -> HeldFile? {
        do throws(SystemError) {
            let descriptor = try Descriptor(opening: path, loop_name_only | O_NOFOLLOW)
            let status = try descriptor.status()
            return HeldFile(descriptor, status)
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
    }

    /// Whether this file has that name now.
    package func isStill(_ path: String) -> Bool {
        guard let now = FileSystem.status(ofName: path) else { return false }
        return now.isSame(as: status)
    }
}

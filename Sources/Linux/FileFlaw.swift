internal import CLinux
internal import Glibc

/// Why a file, or a folder, is not taken for what its name says.
///
/// A name may lead anywhere. What was opened is looked at, so that nothing depends on what has the name a moment later.
public enum FileFlaw: Hashable, Sendable {
    /// It is a symbolic link, which may lead to any other file.
    case link
    /// It is a folder, a pipe, a device or a socket.
    case noFile
    /// It is no folder.
    case noFolder
    /// The file has more than one name, so others may use it under another one.
    case names(Int)
    /// It belongs to another user, who can change it at any time.
    case owner(UInt32, user: UInt32)
    /// Others can write to it.
    case writableByOthers(permissions: UInt32)
    /// Another file has taken its name while it was opened.
    case replaced

    /// What is wrong, to follow the path.
    public var text: String {
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
    public func remedy(_ path: String) -> String {
        switch self {
        case .link: "give the path that it leads to"
        case .noFile, .noFolder: "give another path, or move it away"
        case .names: "remove the other names, or use a copy: cp \(path) …"
        case .owner(_, let user): "run as its owner, or change that: chown \(user) \(path)"
        case .writableByOthers: "if what is in it can be trusted: chmod go-w \(path)"
        case .replaced: "see who may write to its folder, and start again"
        }
    }
}

extension FileStatus {
    /// What speaks against reading the file by its name; nil if nothing does.
    public var flawToRead: FileFlaw? {
        if isLink { return .link }
        if kind != .file { return .noFile }
        return links == 1 ? nil : .names(links)
    }

    /// What speaks against relying on the file's bytes, and changing them; nil if nothing does.
    /// - Parameter user: who may own it, besides root.
    public func flaw(user: UInt32 = System.userID) -> FileFlaw? {
        flawToRead ?? flawOfOwner(user: user) ?? flawOfPermissions
    }

    /// What speaks against relying on what is in a folder; nil if nothing does.
    /// - Parameter user: who may own it, besides root.
    public func flawOfFolder(user: UInt32 = System.userID) -> FileFlaw? {
        if isLink { return .link }
        return kind == .folder ? flawOfOwner(user: user) ?? flawOfPermissions : .noFolder
    }

    /// The flaw that it belongs to another user.
    /// - Parameter user: who may own it, besides root.
    public func flawOfOwner(user: UInt32) -> FileFlaw? {
        owner == user || owner == 0 ? nil : .owner(owner, user: user)
    }

    /// The flaw that others can write to it.
    public var flawOfPermissions: FileFlaw? {
        permissions & 0o022 == 0 ? nil : .writableByOthers(permissions: permissions)
    }
}

/// A file could not be opened, or is not what its name says.
public enum OpeningError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system has refused it.
    case system(SystemError)
    /// Something speaks against the file at that path.
    case flaw(FileFlaw, String)

    /// Of some flaws the system tells before the file is open.
    init(_ error: SystemError, _ path: String) {
        self =
            switch error.code {
            case ELOOP: .flaw(.link, path)
            case EISDIR, ENXIO: .flaw(.noFile, path)
            default: .system(error)
            }
    }

    /// One line: the path, what is wrong with it, and what to do.
    public var description: String {
        switch self {
        case .system(let error): error.description
        case .flaw(let flaw, let path): "\(path) \(flaw.text); \(flaw.remedy(path))"
        }
    }
}

/// What has a name, held without being opened: nothing is read or changed, no pipe is waited for, and locks that this process
/// has on the file stay. While it is held, no other file gets its number.
public struct HeldFile: ~Copyable, Sendable {
    private let descriptor: Descriptor
    /// What it is, at the time when it was found. A symbolic link is not followed.
    public let status: FileStatus

    private init(_ descriptor: consuming Descriptor, _ status: FileStatus) {
        self.descriptor = descriptor
        self.status = status
    }

    /// Takes hold of what has a name.
    /// - Returns: nil if nothing has that name.
    /// - Throws: ``SystemError`` that names the path.
    public static func at(_ path: String) throws(SystemError) -> HeldFile? {
        do throws(SystemError) {
            let descriptor = try Descriptor(opening: path, loop_name_only | O_NOFOLLOW)
            let status = try descriptor.status()
            return HeldFile(descriptor, status)
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
    }

    /// Whether the same file has that name now.
    public func isStill(_ path: String) -> Bool {
        guard let now = FileSystem.status(ofName: path) else { return false }
        return now.isSame(as: status)
    }
}

internal import Glibc
internal import Linux
import LoopKeys

/// A reducer's folder of keys.
///
///     DIR/server.key_secret       the reducer's own pair; only its user can read it
///     DIR/server.key              the public half, which every peer has a copy of
///     DIR/server-2.key_secret     another pair of its own, while peers change from one to the other
///     DIR/allowed/NAME.key        one file for each key that it admits
///
/// Other files are ignored, and so are those in `allowed` with names that begin with a dot. Every user who can change the folder or
/// `allowed` decides who takes part. So neither may belong to other users or be writable by them.
public struct KeyFolder: Hashable, Sendable {
    /// The suffix of files for others.
    static let publicEnd = ".key"
    /// The suffix of files for their owners.
    static let secretEnd = ".key_secret"

    /// The path of the folder.
    package let path: String

    /// Names a folder, which does not have to exist.
    public init(_ path: String) { self.path = path }

    /// The folder of the keys that the reducer admits.
    package var allowedPath: String { "\(path)/allowed" }

    // MARK: Reading

    /// The reducer's own pairs: `server` first, then `server-2` and so on. There is at least one.
    /// - Throws: ``KeyFileError`` for the first pair that cannot be used, or if there is none.
    package func serverKeys() throws(KeyFileError) -> [ServerKey] {
        let names = try serverNames()
        guard !names.isEmpty else { throw KeyFileError(path, .noServerKey) }
        var keys: [ServerKey] = []
        for name in names {
            let file = "\(path)/\(name.text)\(Self.secretEnd)"
            let key = try CertificateFile.readSecret(file)
            let roles = key.certificate.roles
            // Other programs write no roles.
            guard roles.isEmpty || roles.contains(.reducer) else { throw KeyFileError(file, .notReducers) }
            keys.append(ServerKey(number: name.number, certificate: key.certificate, secretKey: key.secretKey))
        }
        return keys
    }

    /// The keys that the reducer admits now. A file that cannot be used is reported, and its key is not admitted, but the others
    /// are. If the folder itself cannot be used, no key is admitted.
    /// - Throws: ``KeyFileError`` if this process has too few descriptors or too little memory to read them. Then keep the earlier
    ///   keys, and read again soon.
    package func allowedKeys() throws(KeyFileError) -> AllowedKeyFiles {
        try allowedKeys(user: System.userID)
    }

    func allowedKeys(user: UInt32) throws(KeyFileError) -> AllowedKeyFiles {
        let files: [String]
        do throws(KeyFileError) {
            for folder in [path, allowedPath] {
                let status = try CertificateFile.naming(folder) { () throws(SystemError) in
                    try Descriptor(opening: folder, O_RDONLY | O_DIRECTORY).status()
                }
                try CertificateFile.check(status, of: folder, user: user)
            }
            files = try allowedFiles()
        } catch {
            if error.isShortage { throw error }
            return AllowedKeyFiles(refusing: error)
        }
        var read: [(path: String, certificate: Result<Certificate, KeyFileError>)] = []
        for file in files {
            do throws(KeyFileError) {
                read.append((file, .success(try CertificateFile.readPublic(file, user: user))))
            } catch {
                if error.isShortage { throw error }
                // It was removed while the folder was read, unless it is a link without a target.
                if error.isAbsence, FileSystem.link(at: file) == nil { continue }
                read.append((file, .failure(error)))
            }
        }
        return AllowedKeyFiles(read)
    }

    /// A stamp that shows cheaply whether to read the folder again. It is different after almost every change.
    ///
    /// It misses a change that keeps the size and the inode of a file, if it comes within a few milliseconds of an earlier one.
    package func stamp() -> KeyFolderStamp {
        let names = (try? serverNames())?.map { "\(path)/\($0.text)\(Self.secretEnd)" } ?? []
        return KeyFolderStamp(of: [path, allowedPath] + names + ((try? allowedFiles()) ?? []))
    }

    func serverNames() throws(KeyFileError) -> [ServerKeyName] {
        try names(in: path).compactMap { name in
            name.hasSuffix(Self.secretEnd) ? ServerKeyName(name.dropLast(Self.secretEnd.count)) : nil
        }.sorted()
    }

    private func allowedFiles() throws(KeyFileError) -> [String] {
        try names(in: allowedPath).filter { $0.hasSuffix(Self.publicEnd) && !$0.hasPrefix(".") }.sorted()
            .map { "\(allowedPath)/\($0)" }
    }

    private func names(in folder: String) throws(KeyFileError) -> [String] {
        try CertificateFile.naming(folder) { () throws(SystemError) in try FileSystem.names(in: folder) }
    }

    /// The name in the path of a file of keys, without its folder and its suffix.
    static func name(ofFile path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return name.hasSuffix(publicEnd) ? String(name.dropLast(publicEnd.count)) : name
    }
}

extension KeyFileError {
    /// Whether this process or its machine lacks resources, so that the error says nothing about the file.
    var isShortage: Bool {
        guard case .system(let error) = reason else { return false }
        return [EMFILE, ENFILE, ENOMEM].contains(error.code)
    }

    /// Whether the file does not exist.
    var isAbsence: Bool {
        guard case .system(let error) = reason else { return false }
        return error.code == ENOENT
    }
}

/// The state of the files in a folder of keys at one time, without their contents. If two stamps are equal, there is nothing to
/// read.
package struct KeyFolderStamp: Hashable, Sendable {
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

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
/// Other files are not looked at, nor are those in `allowed` whose names begin with a dot. Whoever may change the folder or
/// `allowed` decides who takes part, so neither may belong to others or let others write.
public struct KeyFolder: Hashable, Sendable {
    /// How files for others end.
    static let publicEnd = ".key"
    /// How files for their owners end.
    static let secretEnd = ".key_secret"

    /// Where it is.
    public let path: String

    /// Names a folder, which need not be there.
    public init(_ path: String) { self.path = path }

    /// Where the keys are that the reducer admits.
    public var allowedPath: String { "\(path)/allowed" }

    // MARK: Reading

    /// The reducer's own pairs: `server` first, then `server-2` and so on. There is one at least.
    /// - Throws: ``KeyFileError`` of the first that cannot be used, or because there is none.
    public func serverKeys() throws(KeyFileError) -> [ServerKey] {
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

    /// The keys that the reducer admits now. A file that cannot be used is reported, its key is not admitted, and the others
    /// are. If the folder itself cannot be used, no key is admitted.
    /// - Throws: ``KeyFileError`` if this process has too few descriptors or too little memory to know. Nothing is known
    ///   about the keys then: keep those of before, and read again soon.
    public func allowedKeys() throws(KeyFileError) -> AllowedKeyFiles {
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
                // It was removed while the folder was read, unless it is a link to nothing.
                if error.isAbsence, FileSystem.link(at: file) == nil { continue }
                read.append((file, .failure(error)))
            }
        }
        return AllowedKeyFiles(read)
    }

    /// What shows cheaply whether the folder has to be read again: it is another one after almost every change.
    ///
    /// A change that leaves size and place of a file, within the same few milliseconds as the change before it, is not seen.
    public func stamp() -> KeyFolderStamp {
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

    /// What a file of keys is called, without its folder and its end.
    static func name(ofFile path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return name.hasSuffix(publicEnd) ? String(name.dropLast(publicEnd.count)) : name
    }
}

extension KeyFileError {
    /// Whether the failure is of this process or its machine, and says nothing about the file.
    var isShortage: Bool {
        guard case .system(let error) = reason else { return false }
        return [EMFILE, ENFILE, ENOMEM].contains(error.code)
    }

    /// Whether nothing is there.
    var isAbsence: Bool {
        guard case .system(let error) = reason else { return false }
        return error.code == ENOENT
    }
}

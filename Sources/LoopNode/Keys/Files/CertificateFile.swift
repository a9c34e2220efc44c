internal import Glibc
internal import Linux
package import LoopKeys

/// Certificates as files: `NAME.key` for others, `NAME.key_secret` only for the owner of the key.
package enum CertificateFile {
    /// Reads a `.key` file. A symbolic link is followed.
    /// - Throws: ``KeyFileError`` if the file is unreadable, is not a certificate, or has a secret key. Also if its owner is
    ///   neither root nor this process's user, or if others may change it.
    package static func readPublic(_ path: String) throws(KeyFileError) -> Certificate {
        try readPublic(path, user: System.userID)
    }

    /// Reads a `.key_secret` file.
    /// - Throws: ``KeyFileError`` if the file is unreadable, or is not a certificate with a secret key. Also if others may read or
    ///   change it, if it belongs to another user, or if it is a symbolic link or not a file.
    package static func readSecret(_ path: String) throws(KeyFileError) -> SecretCertificate {
        try readSecret(path, user: System.userID)
    }

    static func readPublic(_ path: String, user: UInt32) throws(KeyFileError) -> Certificate {
        let bytes = try bytes(of: path, following: true) { status throws(KeyFileError) in
            try check(status, of: path, user: user)
        }
        do throws(CertificateError) {
            return try Certificate(reading: bytes)
        } catch {
            throw KeyFileError(path, .certificate(error))
        }
    }

    static func readSecret(_ path: String, user: UInt32) throws(KeyFileError) -> SecretCertificate {
        // A public key is not secret, whatever its mode is.
        if (try? Certificate(reading: bytes(of: path, following: true) { _ in })) != nil {
            throw KeyFileError(path, .publicKey)
        }
        let bytes = try bytes(of: path, following: false) { status throws(KeyFileError) in
            guard status.owner == user else { throw KeyFileError(path, .owner(status.owner, user: user)) }
            guard status.permissions & 0o077 == 0 else {
                throw KeyFileError(path, .openToOthers(permissions: status.permissions))
            }
        }
        do throws(CertificateError) {
            return try SecretCertificate(reading: bytes)
        } catch {
            throw KeyFileError(path, .certificate(error))
        }
    }

    /// Checks that only trusted users can change a public certificate or a folder of them, because such users decide who takes
    /// part.
    static func check(_ status: FileStatus, of path: String, user: UInt32) throws(KeyFileError) {
        guard status.owner == user || status.owner == 0 else {
            throw KeyFileError(path, .owner(status.owner, user: user))
        }
        guard status.permissions & 0o022 == 0 else {
            throw KeyFileError(path, .writableByOthers(permissions: status.permissions))
        }
    }

    /// Reads a file. The checks apply to the file that was opened, whatever file has its name meanwhile.
    private static func bytes(
        of path: String, following: Bool, check: (FileStatus) throws(KeyFileError) -> Void
    ) throws(KeyFileError) -> [UInt8] {
        let file = try open(path, following: following)
        let status = try naming(path) { () throws(SystemError) in try file.status() }
        guard status.kind == .file else { throw KeyFileError(path, .noFile) }
        try check(status)
        return try naming(path) { () throws(SystemError) in try file.bytes(atMost: Certificate.bytesMax + 1) }
    }

    private static func open(_ path: String, following: Bool) throws(KeyFileError) -> Descriptor {
        do throws(SystemError) {
            // A pipe without a writer is opened at once.
            return try Descriptor(
                opening: path, O_RDONLY | O_NONBLOCK | O_NOCTTY | (following ? 0 : O_NOFOLLOW))
        } catch {
            throw KeyFileError(path, !following && error.code == ELOOP ? .link : .system(error))
        }
    }

    /// Adds the path to an error of the system.
    static func naming<Result>(
        _ path: String, _ body: () throws(SystemError) -> Result
    ) throws(KeyFileError) -> Result {
        do throws(SystemError) {
            return try body()
        } catch {
            throw KeyFileError(path, .system(error))
        }
    }
}

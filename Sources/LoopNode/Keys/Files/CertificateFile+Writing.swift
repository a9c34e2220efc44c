internal import Linux
package import LoopKeys

extension CertificateFile {
    /// Writes the two files of a key pair, the secret one first. Each appears under its name complete and synced, or not at all.
    /// From its first byte, only its owner can read the secret file.
    ///
    /// If the process is killed meanwhile, it may leave a file with a name that begins with a dot. If it was replacing both files,
    /// the public file may be that of the earlier pair. Then a reducer does not admit the new key.
    /// - Parameters:
    ///   - certificate: the pair.
    ///   - secret: the path for `NAME.key_secret`.
    ///   - other: the path for `NAME.key`.
    ///   - replacing: whether existing files are replaced. A link is replaced, not its target.
    /// - Throws: ``KeyFileError``. Without `replacing`, no file has either name then, unless the folder could not be synced.
    package static func write(
        _ certificate: SecretCertificate, secret: String, public other: String, replacing: Bool = false
    ) throws(KeyFileError) {
        if !replacing {
            for path in [secret, other] where FileSystem.exists(path) { throw KeyFileError(path, .exists) }
        }
        let secretFile = try DraftFile.write(certificate.text, for: secret, mode: 0o600)
        let publicFile = try DraftFile.write(certificate.certificate.text, for: other, mode: 0o644)
        try secretFile.place(replacing: replacing)
        do throws(KeyFileError) {
            try publicFile.place(replacing: replacing)
        } catch {
            if !replacing { try? FileSystem.removeFile(secret) }
            throw error
        }
        try secretFile.syncName()
        try publicFile.syncName()
    }

    /// Writes only a `.key` file.
    static func write(_ certificate: Certificate, _ path: String, replacing: Bool) throws(KeyFileError) {
        let file = try DraftFile.write(certificate.text, for: path, mode: 0o644)
        try file.place(replacing: replacing)
        try file.syncName()
    }
}

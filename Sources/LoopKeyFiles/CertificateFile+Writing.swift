internal import Linux
public import LoopKeys

extension CertificateFile {
    /// Writes the two files of a key pair. Each appears under its name whole and synced, or not at all; the secret one first,
    /// which only its owner can read from its first byte on.
    ///
    /// A process that is killed in the middle may leave a file whose name begins with a dot. If it was replacing both files,
    /// the public one may be that of the earlier pair, and then a reducer does not admit the new key.
    /// - Parameters:
    ///   - certificate: the pair.
    ///   - secret: the path for `NAME.key_secret`.
    ///   - other: the path for `NAME.key`.
    ///   - replacing: whether files that are there are replaced; links are, not what they lead to.
    /// - Throws: ``KeyFileError``. Without `replacing`, neither name is taken then, unless the folder could not be synced.
    public static func write(
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

    /// Writes a `.key` file alone.
    static func write(_ certificate: Certificate, _ path: String, replacing: Bool) throws(KeyFileError) {
        let file = try DraftFile.write(certificate.text, for: path, mode: 0o644)
        try file.place(replacing: replacing)
        try file.syncName()
    }
}

internal import Glibc
internal import Linux
public import LoopKeys

extension KeyFolder {
    /// Makes a key pair, and writes its files: those of a peer where the reducer finds the public one, those of the reducer
    /// where it finds both. Folders are made where they are missing, for this user alone.
    /// - Parameters:
    ///   - key: whose it is, and what it allows.
    ///   - created: the time, for people.
    ///   - replacing: whether files that are there are replaced.
    ///   - generate: makes the pair of keys.
    /// - Throws: ``KeyFileError``, `CertificateError` for a time that does not print, or what `generate` throws.
    public func issue(
        _ key: NewKey, created: String? = nil, replacing: Bool = false, generate: KeyPair.Generator
    ) throws -> IssuedKey {
        let (secret, other) = ("\(path)/\(key.secretFile)", "\(path)/\(key.publicFile)")
        try make(path)
        try make(allowedPath)
        let pair = try generate()
        let certificate = try key.certificate(of: pair.publicKey, created: created)
        try CertificateFile.write(
            SecretCertificate(certificate, secretKey: pair.secretKey), secret: secret, public: other,
            replacing: replacing)
        return IssuedKey(key: key, certificate: certificate, secretPath: secret, publicPath: other)
    }

    private func make(_ folder: String) throws(KeyFileError) {
        do throws(SystemError) {
            try FileSystem.makeFolder(folder, mode: 0o700)
        } catch {
            if error.code == EEXIST, FileSystem.status(of: folder)?.kind == .folder { return }
            throw KeyFileError(folder, .system(error))
        }
    }
}

internal import Glibc
internal import Linux
public import LoopKeys

extension KeyFolder {
    /// What becomes of a key pair that is there already.
    public enum PresentPair: Hashable, Sendable {
        /// It stays, and making another is an error.
        case refuse
        /// It stays, and is the one. Only what is missing is made.
        case keep
        /// Another takes its place.
        case replace
    }

    /// Makes a key pair, and writes its files: those of a peer where the reducer finds the public one, those of the reducer
    /// where it finds both. Folders are made where they are missing, for this user alone. A peer that has a folder of its own
    /// gets a copy of the reducer's public key too, which is written first.
    ///
    /// A pair is whole if both files are there. So is a peer's without a folder of its own whose secret file has moved on. Of
    /// a pair that is to be kept and is not whole:
    /// - A reducer's public file is written again.
    /// - A peer's secret file alone gives way to a new pair: the reducer may have revoked the old one.
    /// - A public file whose secret one is missing is an error, since peers may rely on it.
    /// - Parameters:
    ///   - key: whose it is, and what it allows.
    ///   - created: the time, for people.
    ///   - present: what becomes of a pair that is there, and of another copy of the reducer's public key.
    ///   - generate: makes the pair of keys.
    /// - Throws: ``KeyFileError``, `CertificateError` for a time that does not print, or what `generate` throws.
    public func issue(
        _ key: NewKey, created: String? = nil, present: PresentPair = .refuse, generate: KeyPair.Generator
    ) throws -> IssuedKey {
        let files = PairFiles(of: key, in: path)
        try make(path)
        try make(allowedPath)
        var copy: String?
        if let folder = key.folder {
            try make(folder)
            copy = try copyReducersKey(to: folder, present: present)
        }
        var replacing = present == .replace
        if present == .keep {
            if let certificate = try files.kept(isOfReducer: key.isReducers, staysTogether: key.staysTogether) {
                return IssuedKey(key: key, certificate: certificate, files: files, reducersPath: copy, isKept: true)
            }
            replacing = FileSystem.exists(files.secret)
        }
        let pair = try generate()
        let certificate = try key.certificate(of: pair.publicKey, created: created)
        try CertificateFile.write(
            SecretCertificate(certificate, secretKey: pair.secretKey), secret: files.secret, public: files.public,
            replacing: replacing)
        return IssuedKey(key: key, certificate: certificate, files: files, reducersPath: copy, isKept: false)
    }

    /// - Returns: where the copy is.
    private func copyReducersKey(to folder: String, present: PresentPair) throws(KeyFileError) -> String {
        guard let name = try serverNames().first else { throw KeyFileError(path, .noServerKey) }
        let certificate = try CertificateFile.readPublic("\(path)/\(name.text)\(Self.publicEnd)")
        let copy = "\(folder)/\(name.text)\(Self.publicEnd)"
        if FileSystem.exists(copy), try CertificateFile.readPublic(copy) == certificate { return copy }
        try CertificateFile.write(certificate, copy, replacing: present != .refuse)
        return copy
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

/// Where the two files of a pair are.
struct PairFiles {
    /// For its owner alone.
    let secret: String
    /// For others.
    let `public`: String

    init(of key: NewKey, in folder: String) {
        secret = "\(key.folder ?? folder)/\(key.secretFile)"
        `public` = "\(folder)/\(key.publicFile)"
    }

    /// The pair that is there, if it is whole, or can be made whole.
    /// - Throws: ``KeyFileError`` where a file cannot be read, the two do not belong together, or the secret one is missing.
    func kept(isOfReducer: Bool, staysTogether: Bool) throws(KeyFileError) -> Certificate? {
        switch (FileSystem.exists(secret), FileSystem.exists(`public`)) {
        case (false, false): return nil
        case (true, true):
            let certificate = try CertificateFile.readPublic(`public`)
            guard try CertificateFile.readSecret(secret).certificate.publicKey == certificate.publicKey else {
                throw KeyFileError(`public`, .otherKey(than: secret))
            }
            return certificate
        case (false, true):
            if staysTogether { throw KeyFileError(`public`, .noSecret(secret)) }
            return try CertificateFile.readPublic(`public`)
        case (true, false):
            guard isOfReducer else { return nil }
            let certificate = try CertificateFile.readSecret(secret).certificate
            try CertificateFile.write(certificate, `public`, replacing: false)
            return certificate
        }
    }
}

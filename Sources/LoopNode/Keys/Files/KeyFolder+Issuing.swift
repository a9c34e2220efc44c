internal import Glibc
internal import Linux
package import LoopKeys

extension KeyFolder {
    /// What to do with a key pair that exists already.
    package enum PresentPair: Hashable, Sendable {
        /// Keep it, and throw an error.
        case refuse
        /// Keep and return it. Only missing files are made.
        case keep
        /// Replace it by another.
        case replace
    }

    /// Makes a key pair, and writes its files. The reducer finds a peer's public file, and both files of its own pair, in its
    /// folder. Missing folders are made, for this user alone. A peer with a folder of its own also gets a copy of the reducer's
    /// public key, which is written first.
    ///
    /// A pair is complete if both files exist. A peer without a folder of its own may have moved its secret file; its pair is
    /// complete too. If a pair is to be kept and is not complete:
    /// - A reducer's public file is written again.
    /// - If only a peer's secret file exists, a new pair replaces it, because the reducer may have revoked the old one.
    /// - If a secret file is missing, it is an error, because peers may rely on the public one.
    /// - Parameters:
    ///   - key: the owner of the pair, and what it allows.
    ///   - created: the time, for people.
    ///   - present: what to do with an existing pair, and with another copy of the reducer's public key.
    ///   - generate: makes the pair of keys.
    /// - Throws: ``KeyFileError``, `CertificateError` for a time that does not print, or what `generate` throws.
    package func issue(
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

    /// - Returns: the path of the copy.
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

/// The paths of the two files of a pair.
struct PairFiles {
    /// The file for its owner alone.
    let secret: String
    /// The file for others.
    let `public`: String

    init(of key: NewKey, in folder: String) {
        secret = "\(key.folder ?? folder)/\(key.secretFile)"
        `public` = "\(folder)/\(key.publicFile)"
    }

    /// The existing pair, if it is complete or can be completed.
    /// - Throws: ``KeyFileError`` if a file cannot be read, if the two do not belong together, or if the secret one is missing.
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

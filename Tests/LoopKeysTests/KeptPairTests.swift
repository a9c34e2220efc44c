import TestFolders
import Testing

@testable import Linux
@testable import LoopKeys
@testable import LoopNode

/// What `loopctl keygen --keep` does at every start: keys are made once, and what was cut off is made good.
@Suite struct `A pair that is kept` {
    private let place = TestFolder()
    private let folder: KeyFolder
    /// The folder of a worker's own.
    private let own: String

    init() {
        folder = KeyFolder("\(place.path)/keys")
        own = "\(place.path)/own"
    }

    /// Pairs are numbered, so that a test sees which one is there.
    private func keep(
        _ number: UInt8, _ name: String, _ roles: Set<Role>, to own: String? = nil,
        present: KeyFolder.PresentPair = .keep
    ) throws -> IssuedKey {
        let key = try NewKey(name: #require(KeyName(name)), roles: roles, folder: own)
        return try folder.issue(key, present: present) { Examples.pair(number) }
    }

    private func admitted() throws -> [PublicKey] { Array(try folder.allowedKeys().keys.keys.keys) }

    private func key(_ number: UInt8) -> PublicKey { Examples.pair(number).publicKey }

    @Test func `is made once`() throws {
        #expect(try keep(1, "main", [.reducer]).isKept == false)
        #expect(try keep(2, "w", [.worker], to: own).isKept == false)
        #expect(try keep(3, "main", [.reducer]).isKept)
        let kept = try keep(4, "w", [.worker], to: own)
        #expect(kept.isKept)
        #expect(kept.secretPath == "\(own)/w.key_secret")
        #expect(kept.reducersPath == "\(own)/server.key")
        #expect(try folder.serverKeys().map(\.certificate.publicKey) == [key(1)])
        #expect(try CertificateFile.readPublic("\(own)/server.key").publicKey == key(1))
        #expect(try CertificateFile.readSecret("\(own)/w.key_secret").certificate.publicKey == key(2))
        #expect(try admitted() == [key(2)])
        #expect(FileSystem.status(of: own)?.permissions == 0o700)
    }

    @Test func `keeps what its owner may do, whatever is asked for now`() throws {
        _ = try keep(1, "o", [.observer])
        #expect(try keep(2, "o", [.admin]).certificate.roles == [.observer])
    }

    @Test func `needs no secret file next to the reducer's, since that one moves`() throws {
        _ = try keep(1, "w", [.worker])
        try FileSystem.removeFile("\(folder.path)/w.key_secret")
        #expect(try keep(2, "w", [.worker]).isKept)
        #expect(try admitted() == [key(1)])
        #expect(!FileSystem.exists("\(folder.path)/w.key_secret"))
    }

    @Test(arguments: [false, true])
    func `of a peer gives way to a new one where no reducer admits it, as after a revocation or a kill`(
        hasFolder: Bool
    ) throws {
        let own = hasFolder ? own : nil
        _ = try keep(1, "main", [.reducer])
        _ = try keep(2, "w", [.worker], to: own)
        try FileSystem.removeFile("\(folder.allowedPath)/w.key")
        let issued = try keep(3, "w", [.worker], to: own)
        #expect(!issued.isKept)
        #expect(try admitted() == [key(3)])
        #expect(try CertificateFile.readSecret(issued.secretPath).certificate.publicKey == key(3))
    }

    @Test func `of a reducer gets its public file back`() throws {
        _ = try keep(1, "main", [.reducer])
        try FileSystem.removeFile("\(folder.path)/server.key")
        #expect(try keep(2, "main", [.reducer]).isKept)
        #expect(try CertificateFile.readPublic("\(folder.path)/server.key").publicKey == key(1))
        #expect(try folder.serverKeys().map(\.certificate.publicKey) == [key(1)])
    }

    @Test func `whose secret file is lost is an error that says what to do`() throws {
        _ = try keep(1, "main", [.reducer])
        _ = try keep(2, "w", [.worker], to: own)
        for (secret, other) in [
            ("\(own)/w.key_secret", "\(folder.allowedPath)/w.key"),
            ("\(folder.path)/server.key_secret", "\(folder.path)/server.key"),
        ] {
            try FileSystem.removeFile(secret)
            let isWorker = secret.hasPrefix(own)
            let error = #expect(throws: KeyFileError(other, .noSecret(secret))) {
                try keep(3, isWorker ? "w" : "main", isWorker ? [.worker] : [.reducer], to: isWorker ? own : nil)
            }
            #expect(
                error?.description
                    == "\(other) is there and \(secret) is not; bring it back, or give --replace to make a new pair")
        }
        #expect(try admitted() == [key(2)])
    }

    @Test func `of which the halves are of two pairs is an error, as after a kill while it was replaced`() throws {
        _ = try keep(1, "o", [.observer])
        try CertificateFile.write(Examples.certificate(2, [.observer]), "\(folder.allowedPath)/o.key", replacing: true)
        #expect(throws: KeyFileError("\(folder.allowedPath)/o.key", .otherKey(than: "\(folder.path)/o.key_secret"))) {
            try keep(3, "o", [.observer])
        }
        #expect(try keep(4, "o", [.observer], present: .replace).isKept == false)
        #expect(try admitted() == [key(4)])
    }

    @Test func `is joined by the reducer's present key, and only by that one`() throws {
        #expect(throws: KeyFileError(folder.path, .noServerKey)) { try keep(1, "w", [.worker], to: own) }
        _ = try keep(1, "main", [.reducer])
        _ = try keep(2, "w", [.worker], to: own)
        _ = try keep(3, "main", [.reducer], present: .replace)
        #expect(throws: KeyFileError("\(own)/server.key", .exists)) {
            try keep(4, "v", [.worker], to: own, present: .refuse)
        }
        #expect(try keep(5, "w", [.worker], to: own).isKept)
        #expect(try CertificateFile.readPublic("\(own)/server.key").publicKey == key(3))
        #expect(try admitted() == [key(2)])
    }

    @Test func `is whole after the loss of the reducer's whole folder`() throws {
        _ = try keep(1, "main", [.reducer])
        _ = try keep(2, "w", [.worker], to: own)
        try FileSystem.rename(folder.path, to: "\(place.path)/lost")
        _ = try keep(3, "main", [.reducer])
        let issued = try keep(4, "w", [.worker], to: own)
        #expect(try CertificateFile.readPublic("\(own)/server.key").publicKey == key(3))
        #expect(try CertificateFile.readSecret(issued.secretPath).certificate.publicKey == key(4))
        #expect(try admitted() == [key(4)])
    }
}

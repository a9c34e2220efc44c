import Glibc
import TestFolders
import Testing

@testable import Linux
@testable import LoopKeys
@testable import LoopNode

@Suite struct `A key file` {
    private let folder = TestFolder()
    private let pair: SecretCertificate

    private var secret: String { "\(folder.path)/w1.key_secret" }
    private var other: String { "\(folder.path)/w1.key" }

    init() throws {
        pair = SecretCertificate(
            Examples.certificate(1, name: "w1", [.observer]), secretKey: Examples.pair(1).secretKey)
    }

    private func permissions(_ path: String) -> UInt32? { FileSystem.status(of: path)?.permissions }

    private func names() throws -> [String] { try FileSystem.names(in: folder.path).sorted() }

    private func reason(_ read: () throws -> Void) -> KeyFileError.Reason? {
        #expect(throws: KeyFileError.self) { try read() }?.reason
    }

    // MARK: Writing

    @Test func `is written with its pair, and only its owner can read the secret one`() throws {
        try CertificateFile.write(pair, secret: secret, public: other)
        #expect(try names() == ["w1.key", "w1.key_secret"])
        #expect(permissions(secret) == 0o600)
        #expect(try #require(permissions(other)) & 0o133 == 0)
        #expect(try CertificateFile.readPublic(other) == pair.certificate)
        let read = try CertificateFile.readSecret(secret)
        #expect(read.certificate == pair.certificate)
        #expect(read.secretKey.bytes == pair.secretKey.bytes)
    }

    @Test(arguments: ["w1.key", "w1.key_secret"]) func `replaces none unless it is asked to`(name: String) throws {
        folder.write(name, "mine")
        #expect(throws: KeyFileError("\(folder.path)/\(name)", .exists)) {
            try CertificateFile.write(pair, secret: secret, public: other)
        }
        #expect(try names() == [name])
        #expect(try FileSystem.bytes(of: "\(folder.path)/\(name)") == Array("mine".utf8))
        try CertificateFile.write(pair, secret: secret, public: other, replacing: true)
        #expect(try names() == ["w1.key", "w1.key_secret"])
        #expect(permissions(secret) == 0o600)
        #expect(try CertificateFile.readPublic(other) == pair.certificate)
    }

    @Test func `whose name is taken at the last moment leaves nothing of its pair`() throws {
        // A link to nothing is not there for those who look, and is there for those who rename.
        folder.link("w1.key", to: "nowhere")
        #expect(throws: KeyFileError(other, .exists)) {
            try CertificateFile.write(pair, secret: secret, public: other)
        }
        #expect(try names() == ["w1.key"])
    }

    @Test func `that cannot be written leaves nothing of its pair`() throws {
        let lost = "\(folder.path)/none/w1.key"
        guard case .system(let error) = reason({ try CertificateFile.write(pair, secret: secret, public: lost) }) else {
            Issue.record("no error of the system")
            return
        }
        #expect(error.code == ENOENT)
        #expect(try names() == [])
    }

    @Test(arguments: ["w1.key", "w1.key_secret"])
    func `takes the place of a link, and not of what it leads to`(name: String) throws {
        folder.write("precious", "text")
        folder.link(name, to: "precious")
        try CertificateFile.write(pair, secret: secret, public: other, replacing: true)
        #expect(try FileSystem.bytes(of: "\(folder.path)/precious") == Array("text".utf8))
        #expect(try CertificateFile.readSecret(secret).certificate == pair.certificate)
    }

    @Test func `is whole at every moment while it is replaced`() async throws {
        let pairs = (1...100).map { number in
            SecretCertificate(
                Examples.certificate(number, name: String(repeating: "n", count: Int(number)), [.observer]),
                secretKey: Examples.pair(number).secretKey)
        }
        try CertificateFile.write(pair, secret: secret, public: other)
        let (secret, other) = (secret, other)
        let writing = Task {
            for pair in pairs {
                try CertificateFile.write(pair, secret: secret, public: other, replacing: true)
            }
        }
        var last: PublicKey?
        while last != pairs.last?.certificate.publicKey {
            let read = try CertificateFile.readSecret(secret)
            #expect(read.secretKey.bytes.first.map { $0 ^ 255 } == read.certificate.publicKey.bytes.first)
            last = try CertificateFile.readPublic(other).publicKey
        }
        try await writing.value
        #expect(try names() == ["w1.key", "w1.key_secret"])
    }

    // MARK: Reading

    @Test(arguments: [0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o644, 0o777] as [UInt32])
    func `that is secret is refused where others can read or change it`(mode: UInt32) throws {
        try CertificateFile.write(pair, secret: secret, public: other)
        chmod(secret, mode)
        let error = #expect(throws: KeyFileError(secret, .openToOthers(permissions: mode))) {
            try CertificateFile.readSecret(secret)
        }
        let text = "can be read or changed by others (mode \(String(mode, radix: 8)))"
        #expect(error?.description == "\(secret) \(text); run: chmod 600 \(secret)")
        chmod(secret, 0o400)
        _ = try CertificateFile.readSecret(secret)
    }

    @Test(arguments: [0o664, 0o646, 0o622] as [UInt32])
    func `that is public is refused where others can change it`(mode: UInt32) throws {
        try CertificateFile.write(pair, secret: secret, public: other)
        chmod(other, mode)
        let error = #expect(throws: KeyFileError(other, .writableByOthers(permissions: mode))) {
            try CertificateFile.readPublic(other)
        }
        let text = "can be changed by others (mode \(String(mode, radix: 8)))"
        #expect(error?.description == "\(other) \(text); run: chmod go-w \(other)")
        chmod(other, 0o444)
        _ = try CertificateFile.readPublic(other)
    }

    @Test func `of another user is refused, but for public ones of root`() throws {
        try CertificateFile.write(pair, secret: secret, public: other)
        let (owner, user) = (System.userID, System.userID + 7)
        let error = #expect(throws: KeyFileError(secret, .owner(owner, user: user))) {
            try CertificateFile.readSecret(secret, user: user)
        }
        #expect(
            error?.description
                == "\(secret) belongs to user \(owner) and not to user \(user), who runs this; run: chown \(user) \(secret)"
        )
        if owner == 0 {
            _ = try CertificateFile.readPublic(other, user: user)
        } else {
            #expect(throws: KeyFileError(other, .owner(owner, user: user))) {
                try CertificateFile.readPublic(other, user: user)
            }
        }
    }

    @Test func `that is secret is no link, and a public one may be`() throws {
        try CertificateFile.write(pair, secret: secret, public: other)
        folder.link("link", to: "w1.key_secret")
        folder.link("public", to: "w1.key")
        let link = "\(folder.path)/link"
        #expect(throws: KeyFileError(link, .link)) { try CertificateFile.readSecret(link) }
        #expect(try CertificateFile.readPublic("\(folder.path)/public") == pair.certificate)
    }

    @Test func `is a file`() throws {
        mkfifo(secret, 0o600)
        for path in [folder.path, secret, "/dev/null"] {
            #expect(reason { _ = try CertificateFile.readPublic(path) } == .noFile)
        }
        #expect(reason { _ = try CertificateFile.readSecret(secret) } == .noFile)
    }

    @Test func `that is not there, or is another text, is named with what is wrong`() throws {
        let missing = #expect(throws: KeyFileError.self) { try CertificateFile.readPublic(other) }
        #expect(missing?.description == "could not open \(other): No such file or directory")
        folder.write("w1.key", "curve\n    public-key = \"abc\"\n")
        let wrong = #expect(throws: KeyFileError.self) { try CertificateFile.readPublic(other) }
        #expect(
            wrong?.description
                == "\(other), line 2: public-key has 3 characters instead of 40; copy the file again, and put the key "
                + "into quotation marks")
        folder.write("w1.key", String(repeating: "#\n", count: 40_000))
        #expect(
            reason { _ = try CertificateFile.readPublic(other) }
                == .certificate(CertificateError(.tooLarge(bytesMax: 65536))))
    }

    @Test func `has a path that is escaped where it is shown`() {
        let error = KeyFileError("a b/\u{1B}[2J'.key", .openToOthers(permissions: 0o4))
        #expect(
            error.description
                == #"a b/\u{1B}[2J'.key can be read or changed by others (mode 004); run: chmod 600 'a b/\u{1B}[2J'\''.key'"#
        )
    }
}

import Glibc
import LoopKeys
import LoopNode

extension FuzzTarget {
    /// The text of one certificate. What is read says the same when it is written and read again, a secret key is in no public
    /// certificate, and no error shows one.
    static let certificates = FuzzTarget("certificates") { bytes in
        let open = try reading(bytes) { bytes throws(CertificateError) in try Certificate(reading: bytes) }
        let secret = try reading(bytes) { bytes throws(CertificateError) in try SecretCertificate(reading: bytes) }
        if let certificate = open {
            let text = Array(certificate.text.utf8)
            try require(
                try Certificate(reading: text) == certificate, "a certificate that is written says something else")
            try require(secret == nil, "a secret certificate is read as a public one")
        }
        if let certificate = secret {
            let again = try SecretCertificate(reading: Array(certificate.text.utf8))
            try require(
                again.text == certificate.text && again.certificate == certificate.certificate,
                "a secret certificate that is written says something else")
            let half = try Certificate(reading: Array(certificate.certificate.text.utf8))
            try require(half == certificate.certificate, "the public half of a pair is another")
        }
    }

    /// The folder of a reducer's keys with any bytes in its files. A file that cannot be used costs its key and no other, what
    /// is admitted has a role that a peer can have, and names and their order decide nothing.
    static let keyFolders = FuzzTarget(
        "key-folders", budget: AllocationBudget(fixed: 512 << 10, perByte: 1024)
    ) { bytes in
        var input = FuzzInput(bytes)
        let server = input.chunk()
        var files: [[UInt8]] = []
        while !input.isAtEnd, files.count < 8 { files.append(input.chunk()) }
        let folder = try ForgedFolder(server: server, allowed: files)
        try checkServer(folder, server)
        let all = try folder.allowedKeys()
        try require(try folder.allowedKeys() == all, "a folder says two things")
        for error in all.refused {
            try require(error.description.utf8.count < 1024, "an error of \(error.description.utf8.count) bytes")
        }
        var admitting = 0
        for number in files.indices {
            let alone = try ForgedFolder(server: server, allowed: [files[number]]).allowedKeys()
            try require(alone.keys.keys.count + alone.refused.count == 1, "a file says \(alone)")
            for key in alone.keys.keys.values { try check(key) }
            guard let key = alone.keys.keys.values.first else { continue }
            admitting += 1
            // Of several files for one key, all say the same, or none admits it.
            if let admitted = all.keys[key.publicKey] {
                try require(
                    admitted.roles == key.roles && admitted.groups == key.groups, "a key may do what one file says")
            } else {
                try require(
                    all.refused.contains { if case .sameKey = $0.reason { true } else { false } },
                    "a file admits a key alone, and not next to others")
            }
        }
        try require(all.keys.keys.count <= admitting, "more keys are admitted than files name")
        let reversed = try ForgedFolder(server: server, allowed: files.reversed()).allowedKeys()
        try require(
            named(reversed) == named(all), "the names of the files decide who is admitted")
    }

    /// The roles of each key, without its name: a key that has none is named by its file.
    private static func named(_ files: AllowedKeyFiles) -> [PublicKey: Set<Role>] { files.keys.keys.mapValues(\.roles) }

    private static func check(_ key: AllowedKey) throws {
        try require(!key.roles.isEmpty && !key.roles.contains(.reducer), "the roles \(key.roles) are admitted")
        try require(!key.roles.contains(.worker) || key.groups != .none, "a worker of nothing is admitted")
    }

    /// The reducer's own key is that of its file.
    private static func checkServer(_ folder: ForgedFolder, _ bytes: [UInt8]) throws {
        let keys: [ServerKey]
        do throws(KeyFileError) {
            keys = try folder.serverKeys()
        } catch {
            return try require(error.description.utf8.count < 1024, "an error of \(error.description.utf8.count) bytes")
        }
        let expected = try SecretCertificate(reading: bytes)
        try require(
            keys.map { SecretCertificate($0.certificate, secretKey: $0.secretKey).text } == [expected.text],
            "the reducer has another key than its file")
    }

    /// - Returns: what the bytes say, or nil if there is an error. The error is short, prints, and shows no secret key.
    private static func reading<Value>(
        _ bytes: [UInt8], _ read: ([UInt8]) throws(CertificateError) -> Value
    ) throws -> Value? {
        do throws(CertificateError) {
            return try read(bytes)
        } catch {
            let text = error.description
            try require(text.utf8.count < 512, "an error of \(text.utf8.count) bytes")
            try require(text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }, "an error that does not print")
            for key in secretKeys(bytes) {
                try require(!text.contains(key), "an error shows a secret key")
            }
            return nil
        }
    }

    /// What stands behind the word for a secret key, and nowhere else: two pieces of its middle. A key has no space.
    private static func secretKeys(_ bytes: [UInt8]) -> [String] {
        bytes.split(separator: UInt8(ascii: "\n")).flatMap { line -> [String] in
            let word = Array("secret-key = \"".utf8)
            let trimmed = line.drop { $0 == UInt8(ascii: " ") }
            guard trimmed.starts(with: word), trimmed.count > word.count + 40 else { return [] }
            return [trimmed.dropFirst(word.count + 8).prefix(12), trimmed.dropFirst(word.count + 24).prefix(12)]
                .filter { piece in !piece.contains(UInt8(ascii: " ")) && !isRepeated(Array(piece), in: bytes) }
                .map { String(decoding: $0, as: UTF8.self) }
        }
    }

    private static func isRepeated(_ piece: [UInt8], in bytes: [UInt8]) -> Bool {
        guard bytes.count >= piece.count else { return false }
        let places = (0...bytes.count - piece.count).filter {
            bytes[$0] == piece[0] && bytes[$0...].starts(with: piece)
        }
        return places.count > 1
    }

    static func certificateSeeds() throws -> [FuzzSeed] {
        try sampleTexts().map { FuzzSeed($0.name, Array($0.text.utf8)) }
    }

    static func keyFolderSeeds() throws -> [FuzzSeed] {
        let texts = try sampleTexts().map { Array($0.text.utf8) }
        func folder(_ name: String, _ files: [[UInt8]]) -> FuzzSeed {
            var script = FuzzScript()
            for file in files { script.chunk(file) }
            return FuzzSeed(name, script.bytes)
        }
        return [
            folder("sound", [texts[0], texts[2], texts[4]]), folder("the same twice", [texts[0], texts[2], texts[2]]),
            folder("one key, two roles", [texts[0], texts[2], texts[3]]),
            folder("a reducer and a secret among the admitted", [texts[5], texts[1], texts[0], texts[2]]),
            folder("no reducer's", [texts[6], texts[7], []]),
        ]
    }

    /// Certificates of each kind.
    private static func sampleTexts() throws -> [(name: String, text: String)] {
        let pairs = [
            ("Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID", "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"),
            ("rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7", "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6"),
        ]
        func certificate(
            _ pair: Int, _ name: String?, _ roles: Set<Role>, groups: WorkerGroups = .none, created: String? = nil
        ) throws -> Certificate {
            try Certificate(
                name: name, roles: roles, groups: groups, created: created, publicKey: PublicKey(z85: pairs[pair].0))
        }
        let server = try certificate(0, "main", [.reducer], created: "2026-11-24T09:00:00.000Z")
        let secret = SecretCertificate(server, secretKey: try SecretKey(z85: pairs[0].1))
        let worker = try certificate(1, "w1", [.worker], groups: .named(["images", "video"]))
        return [
            ("reducer, secret", secret.text), ("reducer", server.text), ("worker", worker.text),
            ("operator", try certificate(1, "o", [.observer, .admin]).text),
            ("all roles", try certificate(0, "a", [.worker, .observer, .sender, .admin], groups: .all).text),
            ("worker, secret", SecretCertificate(worker, secretKey: try SecretKey(z85: pairs[1].1)).text),
            ("no roles", try certificate(0, nil, []).text),
            (
                "other programs'",
                "#   comment\nmetadata\n    email = \"a@b.c\"\n    version = 1\n    deep\n        er = '2'\n"
                    + "curve\n    public-key = '\(pairs[1].0)'\nmore = x\n"
            ),
        ]
    }
}

/// A reducer's folder of keys in memory, with these bytes in its files.
final class ForgedFolder {
    private let path: String
    private let names: [String]

    init(server: [UInt8], allowed: [[UInt8]]) throws {
        path = JournalForgery.newPath()
        names = allowed.indices.map { "allowed/k\($0).key" } + ["server.key_secret"]
        guard mkdir(path, 0o700) == 0, mkdir("\(path)/allowed", 0o700) == 0 else {
            throw FuzzFinding("a folder cannot be made at \(path)")
        }
        for (name, bytes) in zip(names, allowed + [server]) {
            FileBytes.write(bytes, to: "\(path)/\(name)")
            chmod("\(path)/\(name)", 0o600)
        }
    }

    // The files stay until this has read them.
    func allowedKeys() throws(KeyFileError) -> AllowedKeyFiles {
        defer { withExtendedLifetime(self) {} }
        return try KeyFolder(path).allowedKeys()
    }

    func serverKeys() throws(KeyFileError) -> [ServerKey] {
        defer { withExtendedLifetime(self) {} }
        return try KeyFolder(path).serverKeys()
    }

    deinit {
        for name in names { unlink("\(path)/\(name)") }
        rmdir("\(path)/allowed")
        rmdir(path)
    }
}

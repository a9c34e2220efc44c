import Glibc
import TestFolders
import Testing

@testable import Linux
@testable import LoopKeys
@testable import LoopNode

@Suite struct `A folder of keys` {
    private let place = TestFolder()
    private let folder: KeyFolder

    init() { folder = KeyFolder("\(place.path)/keys") }

    private func issue(
        _ number: UInt8, _ name: String, _ roles: Set<Role>, groups: [String] = [], replacing: Bool = false
    ) throws -> IssuedKey {
        let name = try #require(KeyName(name))
        return try folder.issue(
            NewKey(name: name, roles: roles, groups: groups), present: replacing ? .replace : .refuse
        ) {
            Examples.pair(number)
        }
    }

    private func permissions(_ name: String) -> UInt32? {
        FileSystem.status(of: "\(folder.path)/\(name)")?.permissions
    }

    private func key(_ number: UInt8) -> PublicKey { Examples.pair(number).publicKey }

    // MARK: Issuing

    @Test func `is made for its owner alone, with a peer's public key where the reducer finds it`() throws {
        let issued = try issue(1, "w1", [.worker], groups: ["images"])
        #expect(issued.secretPath == "\(folder.path)/w1.key_secret")
        #expect(issued.publicPath == "\(folder.path)/allowed/w1.key")
        #expect(permissions(".") == 0o700)
        #expect(permissions("allowed") == 0o700)
        #expect(permissions("w1.key_secret") == 0o600)
        let keys = try folder.allowedKeys()
        #expect(keys.refused == [])
        #expect(keys.keys.keys.keys.map(\.self) == [key(1)])
        let allowed = try #require(keys.keys[key(1)])
        #expect(allowed.name == "w1")
        #expect(allowed.roles == [.worker])
        #expect(allowed.groups == .named(["images"]))
        #expect(try CertificateFile.readSecret(issued.secretPath).certificate == issued.certificate)
    }

    @Test func `has the reducer's pair next to the allowed keys, and more than one while it changes`() throws {
        #expect(throws: KeyFileError.self) { try folder.serverKeys() }
        let first = try issue(1, "main", [.reducer])
        #expect(first.secretPath == "\(folder.path)/server.key_secret")
        #expect(first.publicPath == "\(folder.path)/server.key")
        #expect(permissions("allowed") == 0o700)
        #expect(try folder.allowedKeys() == AllowedKeyFiles([]))
        #expect(try folder.serverKeys().map(\.certificate.publicKey) == [key(1)])
        #expect(throws: KeyFileError("\(folder.path)/server.key_secret", .exists)) { try issue(2, "main", [.reducer]) }
        #expect(try issue(10, "server-10", [.reducer]).publicPath == "\(folder.path)/server-10.key")
        _ = try issue(2, "server-2", [.reducer])
        place.write("keys/server-02.key_secret", "another file")
        #expect(try folder.serverKeys().map(\.certificate.publicKey) == [key(1), key(2), key(10)])
        _ = try issue(3, "main", [.reducer], replacing: true)
        #expect(try folder.serverKeys().map(\.certificate.publicKey) == [key(3), key(2), key(10)])
    }

    @Test func `without a key for the reducer says how to make one`() throws {
        _ = try issue(1, "w1", [.observer])
        let error = #expect(throws: KeyFileError(folder.path, .noServerKey)) { try folder.serverKeys() }
        #expect(
            error?.description
                == "\(folder.path) has no server.key_secret; make one: loopctl keygen \(folder.path) server --role reducer"
        )
    }

    @Test func `takes no peer's key for the reducer's`() throws {
        let issued = try issue(1, "w1", [.observer])
        let path = "\(folder.path)/server.key_secret"
        try FileSystem.rename(issued.secretPath, to: path)
        #expect(throws: KeyFileError(path, .notReducers)) { try folder.serverKeys() }
    }

    @Test func `takes the pairs of other programs for the reducer`() throws {
        _ = try issue(1, "w1", [.observer])
        place.write("keys/server.key_secret", Examples.czmqSecret)
        chmod("\(folder.path)/server.key_secret", 0o600)
        #expect(try folder.serverKeys().map(\.certificate.publicKey) == [Examples.client.publicKey])
    }

    @Test func `is not made below a folder that is missing, and no keys are generated for it`() {
        let name = KeyName("w1")
        #expect(throws: KeyFileError.self) {
            try KeyFolder("\(place.path)/none/keys").issue(NewKey(name: #require(name), roles: [.admin])) {
                Issue.record("generated")
                return Examples.pair(1)
            }
        }
    }

    // MARK: Reading

    @Test func `refuses files that cannot be used, and admits the others`() throws {
        for (number, name) in ["a", "b", "c", "d", "e", "f"].enumerated() {
            _ = try issue(UInt8(number + 1), name, [.observer])
        }
        let allowed = folder.allowedPath
        place.write("keys/allowed/b.key", "\u{1B}")
        chmod("\(allowed)/c.key", 0o666)
        try FileSystem.removeFile("\(allowed)/d.key")
        mkfifo("\(allowed)/d.key", 0o600)
        try FileSystem.rename("\(folder.path)/e.key_secret", to: "\(allowed)/e.key")
        place.link("keys/allowed/g.key", to: "nothing")
        // Files with these names are not read as keys.
        place.write("keys/allowed/.f.key", "a draft")
        place.write("keys/allowed/README", "text")
        place.write("keys/allowed/f.key_secret", "text")
        let keys = try folder.allowedKeys()
        #expect(Set(keys.keys.keys.keys) == [key(1), key(6)])
        #expect(keys.refused.map(\.path) == ["b", "c", "d", "e", "g"].map { "\(allowed)/\($0).key" })
        let reasons = keys.refused.map(\.reason)
        #expect(reasons.first == .certificate(CertificateError(.controlCharacter, line: 1)))
        #expect(reasons[1...2] == [.writableByOthers(permissions: 0o666), .noFile])
        guard case .certificate(let error) = reasons[3] else {
            Issue.record("\(reasons[3])")
            return
        }
        #expect(error.flaw == .secretInPublic)
    }

    @Test func `admits no key if it is missing, or if others may add to it`() throws {
        let missing = try folder.allowedKeys()
        #expect(missing.keys == .none)
        #expect(missing.refused.map(\.description) == ["could not open \(folder.path): No such file or directory"])
        _ = try issue(1, "a", [.observer])
        for path in [folder.path, folder.allowedPath] {
            for mode: UInt32 in [0o720, 0o702, 0o1777] {
                chmod(path, mode)
                let keys = try folder.allowedKeys()
                #expect(keys.keys == .none)
                #expect(keys.refused == [KeyFileError(path, .writableByOthers(permissions: mode))])
            }
            chmod(path, 0o755)
        }
        #expect(try folder.allowedKeys().keys.keys.count == 1)
        if System.userID == 0 {
            #expect(try folder.allowedKeys(user: 7).keys.keys.count == 1)
        } else {
            #expect(try folder.allowedKeys(user: System.userID + 1).keys == .none)
        }
    }

    @Test func `is not known to have changed where this process lacks descriptors or memory`() {
        func error(_ code: Int32) -> KeyFileError {
            KeyFileError("a.key", .system(SystemError("open a.key", code: code)))
        }
        for code in [EMFILE, ENFILE, ENOMEM] { #expect(error(code).isShortage) }
        for code in [ENOENT, EACCES, EIO, ELOOP, ENOTDIR, ESTALE] { #expect(!error(code).isShortage) }
        #expect(!KeyFileError("a.key", .noRole).isShortage)
    }

    // MARK: Stamps

    @Test func `has the same stamp until something changes`() throws {
        var stamps = [folder.stamp()]
        func change(_ what: String, _ change: () throws -> Void) throws {
            #expect(folder.stamp() == stamps.last, "before \(what)")
            try change()
            let stamp = folder.stamp()
            #expect(!stamps.contains(stamp), "after \(what)")
            stamps.append(stamp)
        }
        let path = "\(folder.allowedPath)/a.key"
        try change("a first key") { _ = try issue(1, "a", [.observer]) }
        try change("a second key") { _ = try issue(2, "b", [.observer]) }
        try change("a replaced key") { _ = try issue(3, "a", [.observer], replacing: true) }
        try change("a longer text") { place.write("keys/allowed/a.key", "# longer\n" + Examples.czmqPublic) }
        try change("a mode") { chmod(path, 0o400) }
        try change("a removed key") { try FileSystem.removeFile(path) }
        try change("a reducer's key") { _ = try issue(4, "server", [.reducer]) }
        try change("a second one") { _ = try issue(5, "server-2", [.reducer]) }
    }
}

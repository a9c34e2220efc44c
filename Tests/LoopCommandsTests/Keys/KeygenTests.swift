import LoopKeys
import LoopNode
import TestFolders
import Testing

@testable import LoopCommands

@Suite struct `loopctl keygen` {
    private let place = TestFolder()

    private var keys: String { "\(place.path)/keys" }

    private func run(_ words: String...) async -> Int32 {
        await ControlProgram.run(["keygen"] + words, environment: [:])
    }

    @Test func `makes a folder with which a reducer admits a peer`() async throws {
        #expect(await run(keys, "main", "--role", "reducer") == 0)
        #expect(await run(keys, "w1", "--role", "worker", "--role", "sender", "--group", "images") == 0)
        let folder = KeyFolder(keys)
        let servers = try folder.serverKeys()
        #expect(servers.map(\.certificate.name) == ["main"])
        #expect(try CertificateFile.readPublic("\(keys)/server.key") == servers.first?.certificate)
        let peer = try CertificateFile.readSecret("\(keys)/w1.key_secret")
        let allowed = try folder.allowedKeys()
        #expect(allowed.refused == [])
        #expect(allowed.keys.keys.count == 1)
        let key = try #require(allowed.keys[peer.certificate.publicKey])
        #expect(key.name == "w1")
        #expect(key.roles == [.worker, .sender])
        #expect(key.groups == .named(["images"]))
        #expect(try #require(peer.certificate.created).wholeMatch(of: /\d{4}-\d\d-\d\dT[\d:.]{12}Z/) != nil)
        #expect(peer.certificate.publicKey != servers.first?.certificate.publicKey)
    }

    @Test func `replaces a key only if it is asked to`() async throws {
        #expect(await run(keys, "o1", "--role", "observer") == 0)
        let first = try CertificateFile.readSecret("\(keys)/o1.key_secret").certificate
        #expect(await run(keys, "o1", "--role", "admin") == 2)
        #expect(try CertificateFile.readSecret("\(keys)/o1.key_secret").certificate == first)
        #expect(await run(keys, "o1", "--role", "admin", "--replace") == 0)
        let second = try CertificateFile.readSecret("\(keys)/o1.key_secret").certificate
        #expect(second.publicKey != first.publicKey)
        #expect(try KeyFolder(keys).allowedKeys().keys.keys.keys.map(\.self) == [second.publicKey])
    }

    @Test func `with --keep is the same at every start`() async throws {
        let own = "\(place.path)/own"
        for _ in 1...3 {
            #expect(await run(keys, "main", "--role", "reducer", "--keep") == 0)
            #expect(await run(keys, "w", "--role", "worker", "--to", own, "--keep") == 0)
        }
        let worker = try PeerKeys(reading: "\(own)/w.key_secret", reducer: "\(own)/server.key")
        #expect(worker.reducer == (try KeyFolder(keys).serverKeys().first?.certificate.publicKey))
        #expect(try KeyFolder(keys).allowedKeys().keys[worker.own.publicKey]?.roles == [.worker])
        #expect(await run(keys, "w", "--role", "worker", "--to", own) == 2)
    }

    @Test func `has exit code 2 where it cannot write`() async {
        #expect(await run("\(place.path)/none/keys", "o1", "--role", "observer") == 2)
    }

    @Test(arguments: [
        (["w1"], "--role is missing; give --role worker|observer|sender|admin|reducer"),
        (
            ["w1", "--role", "workr"],
            "--role cannot be 'workr': it takes worker, observer, sender, admin or reducer; did you mean worker?"
        ),
        (
            ["../w1", "--role", "worker"],
            "NAME cannot be '../w1': it takes 1 to 128 letters, digits, '-', '_' and '.', of which '-' and '.' are not the "
                + "first"
        ),
        (
            ["o1", "--role", "observer", "--group", "a"],
            "only a worker has groups; name them for the role worker, or leave them out"
        ),
        (
            ["r", "--role", "reducer", "--role", "admin"],
            "the key of a reducer has no other role; make a key of its own for each"
        ),
        (
            ["main", "--role", "reducer", "--to", "own"],
            "the key of a reducer stays in its folder; only a peer's goes to another"
        ),
        (["w1", "--role", "worker", "--keep", "--replace"], "--keep and --replace are opposites; give one of them"),
        (["server", "--role", "admin"], "'server' is the name of a reducer's key; choose another"),
        (
            ["w1", "--role", "worker", "--group", "a,b"],
            "groups has a quotation mark, or another character that cannot stand there; remove it"
        ),
        (["--role", "worker"], "NAME is missing; it is whose the key is, and what its files are called"),
    ])
    func `answers what cannot be meant so with one line`(words: [String], line: String) {
        let error = #expect(throws: UsageError.self) {
            guard case .arguments(let arguments) = try ControlProgram.command.parse(["keygen", "keys"] + words) else {
                return
            }
            _ = try KeygenCommand.newKey(arguments)
            _ = try KeygenCommand.present(arguments)
        }
        #expect(error?.description == line)
    }

    @Test func `says which file goes where`() throws {
        func lines(_ words: [String]) throws -> [String] {
            guard case .arguments(let arguments) = try ControlProgram.command.parse(["keygen", "keys"] + words) else {
                return []
            }
            let key = try KeygenCommand.newKey(arguments)
            let pair = KeyPair(
                publicKey: try #require(PublicKey(bytes: .init(repeating: 1, count: 32))),
                secretKey: try #require(SecretKey(bytes: .init(repeating: 2, count: 32))))
            let present: KeyFolder.PresentPair = words.contains("--keep") ? .keep : .replace
            return KeygenReport(try KeyFolder(keys).issue(key, present: present) { pair }).lines
        }
        #expect(
            try lines(["w1", "--role", "sender", "--role", "worker", "--group", "b", "--group", "a"]) == [
                "\(keys)/w1.key_secret is for w1: move it to where w1 runs, and show it to no one else",
                "\(keys)/allowed/w1.key is for the reducer, in allowed/ of its folder: it admits w1 as worker of a and b, sender",
                "the reducer's server.key is for w1 too, which knows the reducer by it",
            ])
        #expect(
            try lines(["main", "--role", "reducer"]) == [
                "\(keys)/server.key_secret is the reducer's: keep it there, readable by its user only",
                "\(keys)/server.key is for the peers: copy it to each of them, which knows the reducer by it",
            ])
        #expect(try lines(["w2", "--role", "worker"])[1].hasSuffix("as worker of all groups"))
        let own = "\(place.path)/own"
        #expect(
            try lines(["w3", "--role", "worker", "--to", own])[2]
                == "\(own)/server.key is for w3 too, which knows the reducer by it")
        #expect(
            try lines(["w3", "--role", "admin", "--to", own, "--keep"]) == [
                "\(keys)/allowed/w3.key stays as it is: it admits w3 as worker of all groups"
            ])
        #expect(
            try lines(["main", "--role", "reducer", "--keep"]) == [
                "\(keys)/server.key_secret is the reducer's, and stays as it is"
            ])
    }
}

import Testing

@testable import LoopKeys
@testable import LoopNode

@Suite struct `Allowed keys` {
    private typealias File = (path: String, certificate: Result<Certificate, KeyFileError>)

    private let w1: File = (
        "w1.key", .success(Examples.certificate(1, [.worker, .sender], groups: .named(["images"])))
    )
    private let o1: File = ("o1.key", .success(Examples.certificate(2, name: "Olga", [.observer])))

    private func key(_ number: UInt8) -> PublicKey { Examples.pair(number).publicKey }

    @Test func `may do what their roles allow together`() throws {
        let keys = AllowedKeyFiles([w1, o1])
        #expect(keys.refused == [])
        #expect(keys.keys.keys.count == 2)
        let worker = try #require(keys.keys[key(1)])
        #expect(worker.name == "w1")
        #expect(
            Verb.allCases.filter(worker.allows) == [
                .readStatus, .join, .sendEvents, .explainEvents, .readSchema, .runEffects,
            ])
        #expect(worker.mayServe(group: "images"))
        #expect(!worker.mayServe(group: "video"))
        let observer = try #require(keys.keys[key(2)])
        #expect(observer.name == "Olga")
        #expect(
            Verb.allCases.filter(observer.allows)
                == [.readStatus, .join, .followUpdates, .fetchStates, .followTransitions])
        #expect(!observer.mayServe(group: "images"))
        #expect(keys.keys[key(3)] == nil)
    }

    @Test func `that are workers serve all groups only where the certificate says so`() throws {
        let all = AllowedKeyFiles([("a", .success(Examples.certificate(1, [.worker], groups: .all)))])
        #expect(try #require(all.keys[key(1)]).mayServe(group: "any"))
        let none = AllowedKeyFiles([("a", .success(Examples.certificate(1, [.worker])))])
        #expect(none.keys.keys.isEmpty)
        #expect(none.refused == [KeyFileError("a", .noGroup)])
        let observer = AllowedKeyFiles([("a", .success(Examples.certificate(1, [.observer], groups: .all)))])
        #expect(try #require(observer.keys[key(1)]).mayServe(group: "any") == false)
    }

    @Test func `stand although others are refused, which are reported in the order of their files`() {
        let broken = KeyFileError("b.key", .certificate(CertificateError(.notText)))
        let keys = AllowedKeyFiles([
            w1, ("z.key", .success(Examples.certificate(4, [.reducer]))), ("b.key", .failure(broken)),
            ("n.key", .success(Examples.certificate(3, []))), o1,
        ])
        #expect(Set(keys.keys.keys.keys) == [key(1), key(2)])
        #expect(keys.refused == [broken, KeyFileError("n.key", .noRole), KeyFileError("z.key", .reducers)])
    }

    @Test func `in two files that say different things are refused, whatever the order of reading`() {
        let other: File = ("a.key", .success(Examples.certificate(2, name: "Olga", [.admin])))
        let third: File = ("z.key", .success(Examples.certificate(2, name: "Olga", [.observer])))
        for files in [[w1, o1, other, third], [third, other, o1, w1]] {
            let keys = AllowedKeyFiles(files)
            #expect(Set(keys.keys.keys.keys) == [key(1)])
            #expect(
                keys.refused == [
                    KeyFileError("o1.key", .sameKey(as: "a.key")), KeyFileError("z.key", .sameKey(as: "a.key")),
                ])
        }
        #expect(AllowedKeyFiles([o1, third]).refused == [])
        #expect(AllowedKeyFiles([o1, third]).keys[key(2)]?.file == "o1.key")
    }

    @Test func `are compared with those of before`() throws {
        let before = AllowedKeyFiles([w1, o1, ("x", .success(Examples.certificate(9, [.admin])))]).keys
        let after = AllowedKeyFiles([
            ("moved.key", o1.certificate), ("w1.key", .success(Examples.certificate(1, [.worker], groups: .all))),
            ("n.key", .success(Examples.certificate(5, [.sender]))),
            ("m.key", .success(Examples.certificate(6, [.sender]))),
        ]).keys
        let changes = after.changes(since: before)
        #expect(changes.added.map(\.publicKey) == [key(6), key(5)])
        #expect(changes.removed.map(\.publicKey) == [key(9)])
        #expect(changes.removed.map(\.roles) == [[.admin]])
        #expect(changes.changed == [try #require(after[key(1)])])
        #expect(!changes.isEmpty)
        #expect(after.changes(since: after).isEmpty)
        #expect(AllowedKeys.none.changes(since: before).removed.count == 3)
        #expect(before.changes(since: .none).added.count == 3)
    }

    @Test func `that become unreadable are removed, and those that become contested too`() {
        let before = AllowedKeyFiles([w1, o1]).keys
        let unreadable = AllowedKeyFiles([w1, ("o1.key", .failure(KeyFileError("o1.key", .noFile)))]).keys
        #expect(unreadable.changes(since: before).removed.map(\.publicKey) == [key(2)])
        let contested = AllowedKeyFiles([w1, o1, ("b.key", .success(Examples.certificate(2, [.admin])))]).keys
        #expect(contested.changes(since: before).removed.map(\.publicKey) == [key(2)])
    }
}

import Testing

@testable import LoopKeys
@testable import LoopNode

@Suite struct `A new key` {
    private func new(_ name: String, _ roles: Set<Role>, _ groups: [String] = []) throws -> NewKey {
        try NewKey(name: #require(KeyName(name)), roles: roles, groups: groups)
    }

    @Test func `has its files where a peer and a reducer look for them`() throws {
        let peer = try new("w1", [.worker, .sender])
        #expect(peer.secretFile == "w1.key_secret")
        #expect(peer.publicFile == "allowed/w1.key")
        for (name, base) in [
            ("main", "server"), ("server", "server"), ("server-2", "server-2"), ("server-x", "server"),
        ] {
            let reducer = try new(name, [.reducer])
            #expect(reducer.secretFile == "\(base).key_secret")
            #expect(reducer.publicFile == "\(base).key")
        }
    }

    @Test func `of a worker is for all groups, unless some are named`() throws {
        #expect(try new("w", [.worker]).groups == .all)
        #expect(try new("w", [.worker], ["*"]).groups == .all)
        #expect(try new("w", [.worker, .admin], ["b", "a", "b"]).groups == .named(["a", "b"]))
        #expect(try new("w", [.observer]).groups == .none)
    }

    @Test func `that makes no sense is refused with a reason`() throws {
        let server = try #require(KeyName("server-3"))
        let cases: [(String, Set<Role>, [String], NewKey.Refusal)] = [
            ("w", [], [], .noRole), ("r", [.reducer, .admin], [], .reducerAndOthers),
            ("server-3", [.worker], [], .reducersName(server)), ("o", [.observer], ["a"], .groupsOfNoWorker),
            ("r", [.reducer], ["a"], .groupsOfNoWorker), ("w", [.worker], ["a,b"], .groups(.unprintable(.groups))),
            ("w", [.worker], ["*", "a"], .groups(.allAndOthers)),
        ]
        for (name, roles, groups, refusal) in cases {
            #expect(throws: refusal) { try new(name, roles, groups) }
        }
        #expect(throws: NewKey.Refusal.folderOfReducer) {
            try NewKey(name: #require(KeyName("main")), roles: [.reducer], folder: "own")
        }
    }
}

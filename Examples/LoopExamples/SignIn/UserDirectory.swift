/// A directory of the users' names.
package protocol UserDirectory: Sendable {
    /// Whether the name is free.
    /// - Throws: anything if there is no answer.
    func isFree(_ name: String) async throws -> Bool

    /// Signs a user in under this name.
    /// - Parameter key: the same at every attempt of one submission, so that a repeated one is answered like the first.
    /// - Returns: false if another user took the name first.
    /// - Throws: anything if there is no answer.
    func signIn(_ name: String, key: String) async throws -> Bool
}

/// A directory in memory.
package actor StubUserDirectory: UserDirectory {
    /// The key of the submission by which each name was taken. The first three names existed before.
    private var owners = ["ada": "", "grace": "", "edsger": ""]
    private let line: StubLine

    package init(line: StubLine = StubLine(latency: .milliseconds(400))) { self.line = line }

    package func isFree(_ name: String) async throws -> Bool {
        try await line.ask { await self.owner(of: name) == nil }
    }

    package func signIn(_ name: String, key: String) async throws -> Bool {
        try await line.ask { await self.claim(name, key: key) == key }
    }

    private func owner(of name: String) -> String? { owners[name] }

    private func claim(_ name: String, key: String) -> String {
        let owner = owners[name] ?? key
        owners[name] = owner
        return owner
    }
}

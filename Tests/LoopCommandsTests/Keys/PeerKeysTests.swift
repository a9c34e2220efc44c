import LoopKeys
import LoopNode
import TestFolders
import Testing

@testable import LoopCommands

@Suite struct `The keys of a client` {
    private let place = TestFolder()

    /// A worker's folder with all that it needs.
    private func makeKeys() async throws -> (own: String, server: PublicKey) {
        let (keys, own) = ("\(place.path)/keys", "\(place.path)/own")
        for words in [["main", "--role", "reducer"], ["w", "--role", "worker", "--to", own]] {
            #expect(await ControlProgram.run(["keygen", keys] + words, environment: [:]) == 0)
        }
        return (own, try #require(KeyFolder(keys).serverKeys().first).certificate.publicKey)
    }

    @Test func `are read from files, or the reducer's from its 40 characters`() async throws {
        let (own, server) = try await makeKeys()
        let named = try PeerKeys(reading: "\(own)/w.key_secret", reducer: "\(own)/server.key")
        #expect(named.reducer == server)
        #expect(try PeerKeys(reading: "\(own)/w.key_secret", reducer: server.z85) == named)
        #expect(throws: NodeError.self) { try PeerKeys(reading: "\(own)/w.key_secret", reducer: "\(own)/no.key") }
    }

    /// Paths can be made of the characters of keys only. One of that length was taken for a key, which no reducer has.
    @Test func `are read from a file whose path could be a key`() async throws {
        let (own, server) = try await makeKeys()
        let end = ".key"
        let path = "\(place.path)/" + String(repeating: "k", count: 40 - place.path.utf8.count - 1 - end.count) + end
        try #require(try PublicKey(z85: path).z85 == path)
        place.write(
            String(path.dropFirst(place.path.count + 1)), try CertificateFile.readPublic("\(own)/server.key").text)
        #expect(try PeerKeys(reading: "\(own)/w.key_secret", reducer: path).reducer == server)
    }
}

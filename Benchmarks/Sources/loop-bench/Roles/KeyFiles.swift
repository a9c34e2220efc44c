import CReference
import LoopKeys
import LoopNode

/// Keys of a case: the reducer's folder, with one client's pair in it.
enum KeyFiles {
    /// Makes the folder's keys.
    static func make(in folder: String) throws {
        for (name, roles) in [("server", [.reducer]), ("client", [.sender, .observer])]
            as [(String, Set<LoopKeys.Role>)]
        {
            guard let name = KeyName(name) else { continue }
            _ = try KeyFolder(folder).issue(NewKey(name: name, roles: roles), generate: pair)
        }
    }

    /// What the client needs.
    static func ofClient(in folder: String) throws -> PeerKeys {
        try PeerKeys(reading: "\(folder)/client.key_secret", reducer: "\(folder)/server.key")
    }

    private static func pair() throws -> KeyPair {
        var keys = reference_keys()
        guard reference_keys_make(&keys) == 0 else { throw BenchmarkError.role("this libzmq has no CURVE") }
        return KeyPair(
            publicKey: try PublicKey(z85: text(keys.public_key)), secretKey: try SecretKey(z85: text(keys.secret_key)))
    }

    private static func text<Characters>(_ characters: Characters) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

import Linux
import LoopKeyFiles
public import LoopKeys

/// What a client needs to reach a reducer with keys: a key pair of its own, and the reducer's public key.
public struct PeerKeys: Sendable, Hashable {
    /// The pair by which the reducer knows this client.
    public let own: KeyPair
    /// The key that the reducer must prove to have.
    public let reducer: PublicKey

    /// Creates the keys from their parts.
    public init(own: KeyPair, reducer: PublicKey) {
        self.own = own
        self.reducer = reducer
    }

    /// Reads the keys as `loopctl keygen` writes them.
    /// - Parameters:
    ///   - path: the client's own secret file, such as `w1.key_secret`. It is refused if others can read it.
    ///   - reducer: the reducer's public file, such as `server.key`, or its key as 40 characters; a file of that name
    ///     comes first.
    /// - Throws: `NodeError.keys`, which says what is wrong with which file.
    public init(reading path: String, reducer: String) throws(NodeError) {
        do throws(KeyFileError) {
            let secret = try CertificateFile.readSecret(path)
            own = KeyPair(publicKey: secret.certificate.publicKey, secretKey: secret.secretKey)
            // The path of a file may be made of a key's characters only, and have as many.
            if !FileSystem.exists(reducer), let key = try? PublicKey(z85: reducer) {
                self.reducer = key
            } else {
                self.reducer = try CertificateFile.readPublic(reducer).publicKey
            }
        } catch {
            throw .keys("\(error)")
        }
    }

    /// Pairs are compared by their public halves.
    public static func == (one: PeerKeys, other: PeerKeys) -> Bool {
        one.own.publicKey == other.own.publicKey && one.reducer == other.reducer
    }

    /// Hashes what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(own.publicKey)
        hasher.combine(reducer)
    }
}

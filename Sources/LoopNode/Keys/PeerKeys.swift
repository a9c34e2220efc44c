import Linux
package import LoopKeys

/// The keys with which a client reaches a reducer that has keys: its own pair, and the reducer's public key.
public struct PeerKeys: Sendable, Hashable {
    /// The pair by which the reducer knows this client.
    package let own: KeyPair
    /// The key that the reducer must prove to have.
    package let reducer: PublicKey

    /// Creates the keys from their parts.
    package init(own: KeyPair, reducer: PublicKey) {
        self.own = own
        self.reducer = reducer
    }

    /// Reads the keys as `loopctl keygen` writes them.
    /// - Parameters:
    ///   - path: the client's own secret file, such as `w1.key_secret`. It is refused if other users can read it.
    ///   - reducer: the reducer's public file, such as `server.key`, or its key as 40 characters. A file of that
    ///     name takes precedence.
    /// - Throws: `NodeError.keys`, which says what is wrong with which file.
    public init(reading path: String, reducer: String) throws(NodeError) {
        do throws(KeyFileError) {
            let secret = try CertificateFile.readSecret(path)
            own = KeyPair(publicKey: secret.certificate.publicKey, secretKey: secret.secretKey)
            // The path of a file may consist of 40 characters that are valid in a key.
            if !FileSystem.exists(reducer), let key = try? PublicKey(z85: reducer) {
                self.reducer = key
            } else {
                self.reducer = try CertificateFile.readPublic(reducer).publicKey
            }
        } catch {
            throw .keys("\(error)")
        }
    }

    /// Compares pairs by their public halves.
    public static func == (one: PeerKeys, other: PeerKeys) -> Bool {
        one.own.publicKey == other.own.publicKey && one.reducer == other.reducer
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(own.publicKey)
        hasher.combine(reducer)
    }
}

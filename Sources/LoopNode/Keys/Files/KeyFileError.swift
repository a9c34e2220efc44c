import Linux
package import LoopKeys

/// Why a file of keys is not used, or was not written.
package struct KeyFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with a file.
    package enum Reason: Hashable, Sendable {
        /// The system has refused a call.
        case system(SystemError)
        /// It is secret, and a symbolic link.
        case link
        /// It is a folder, a pipe or a device.
        case noFile
        /// Its owner is not this process's user, nor root if others may see the file.
        case owner(UInt32, user: UInt32)
        /// It has a public key, and a secret key is needed.
        case publicKey
        /// It is secret, and its mode lets others read or write it.
        case openToOthers(permissions: UInt32)
        /// Its mode lets others change which keys are admitted.
        case writableByOthers(permissions: UInt32)
        /// Its text is not a certificate.
        case certificate(CertificateError)
        /// It is among the allowed keys, but has no role.
        case noRole
        /// It is among the allowed keys, but has the role of a reducer.
        case reducers
        /// It has the role of a worker, but no group.
        case noGroup
        /// It has the name of the reducer's own key, but other roles.
        case notReducers
        /// Another file allows the same key something else.
        case sameKey(as: String)
        /// It exists already, and must not be replaced.
        case exists
        /// It is a public key that does not belong to the secret key next to it.
        case otherKey(than: String)
        /// It is a public key whose secret key is not at the expected path.
        case noSecret(String)
        /// The folder has no key for the reducer.
        case noServerKey
    }

    /// The path of the file or folder, as it was given.
    package let path: String
    /// What is wrong with it.
    package let reason: Reason

    init(_ path: String, _ reason: Reason) {
        self.path = path
        self.reason = reason
    }

    /// One line: the file, what is wrong, and what to do. Characters that cannot be printed are escaped.
    package var description: String {
        let shown = PrintedText.of(path: path)
        let word = shown.shellWord
        return switch reason {
        // The error names the path itself.
        case .system(let error): PrintedText.of(path: error.description)
        case .link: "\(shown) is a symbolic link; put the file itself there"
        case .noFile: "\(shown) is no file; put a key that loopctl keygen has written there"
        case .owner(let owner, let user):
            "\(shown) belongs to user \(owner) and not to user \(user), who runs this; run: chown \(user) \(word)"
        case .publicKey:
            "\(shown) is a public key, and a secret one is needed here: name the file of the same pair that ends in .key_secret"
        case .openToOthers(let permissions):
            "\(shown) can be read or changed by others (mode \(Self.octal(permissions))); run: chmod 600 \(word)"
        case .writableByOthers(let permissions):
            "\(shown) can be changed by others (mode \(Self.octal(permissions))); run: chmod go-w \(word)"
        case .certificate(let error): "\(shown), \(error)"
        case .noRole:
            #"\#(shown) names no role, and so allows nothing; add to its metadata a line such as: roles = "observer""#
        case .reducers: "\(shown) is a reducer's own key, which no reducer admits; move it out of this folder"
        case .noGroup: #"\#(shown) is a worker's and names no groups; add to its metadata, for all: groups = "*""#
        case .notReducers: "\(shown) is not a reducer's key; make one: loopctl keygen DIR server --role reducer"
        case .sameKey(let other):
            "\(shown) has the key of \(PrintedText.of(path: other)) and allows something else; remove one of them"
        case .exists: "\(shown) is there already; give --replace to make new keys in its place, or use another name"
        case .otherKey(let secret):
            "\(shown) and \(PrintedText.of(path: secret)) are of two pairs; give --replace to make a new one"
        case .noSecret(let secret):
            "\(shown) is there and \(PrintedText.of(path: secret)) is not; bring it back, or give --replace to make a new pair"
        case .noServerKey: "\(shown) has no server.key_secret; make one: loopctl keygen \(word) server --role reducer"
        }
    }

    private static func octal(_ permissions: UInt32) -> String {
        let digits = String(permissions, radix: 8)
        return String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    }
}

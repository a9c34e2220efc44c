/// What a reducer knows about a key: its owner, and what the owner may do. It is neither signed nor secret.
///
/// The text has the format of CZMQ's `zcert`, in a file `NAME.key`.
///
///     metadata
///         name = "thumbnails-1"
///         roles = "worker, sender"
///         groups = "images, video"
///         created = "2026-11-23T22:10:04.120Z"
///     curve
///         public-key = "…"
package struct Certificate: Hashable, Sendable {
    /// The largest size of each text, in bytes: the name, a group, the time.
    package static let textBytesMax = 128
    /// The largest number of groups in a certificate.
    package static let groupsMax = 64
    /// The largest size of the list of groups, in bytes, because a line of the format has at most 1024.
    package static let groupsBytesMax = 900
    /// The largest size of a certificate's text, in bytes.
    package static let bytesMax = ZPLDocument.bytesMax

    /// The name of the key's owner, for people, or nil if the text has none.
    package let name: String?
    /// The roles of the owner in the loop. Empty in certificates of other programs.
    package let roles: Set<Role>
    /// The groups that its owner serves as a worker.
    package let groups: WorkerGroups
    /// The time when the pair was made, for people.
    package let created: String?
    /// The key.
    package let publicKey: PublicKey

    /// Creates a certificate. Its text can be read again.
    /// - Throws: ``CertificateError`` for texts that are empty, too long, or do not print.
    package init(
        name: String? = nil, roles: Set<Role> = [], groups: WorkerGroups = .none, created: String? = nil,
        publicKey: PublicKey
    ) throws(CertificateError) {
        do throws(CertificateError.Flaw) {
            if let name { try Self.check(name, .name) }
            if let created { try Self.check(created, .created) }
            try Self.check(groups)
        } catch {
            throw CertificateError(error)
        }
        self.name = name
        self.roles = roles
        self.groups = groups
        self.created = created
        self.publicKey = publicKey
    }

    /// - Throws: why a text cannot be the value of a field.
    static func check(_ text: String, _ field: CertificateError.Field) throws(CertificateError.Flaw) {
        guard !text.isEmpty else { throw .empty(field) }
        guard text.utf8.count <= textBytesMax else { throw .long(field, bytesMax: textBytesMax) }
        guard text.unicodeScalars.allSatisfy({ PrintedText.prints($0) && $0 != "\"" }) else {
            throw .unprintable(field)
        }
    }

    /// - Throws: why groups cannot be in a certificate.
    package static func check(_ groups: WorkerGroups) throws(CertificateError.Flaw) {
        guard case .named(let names) = groups else { return }
        guard names.count <= groupsMax else { throw .many(.groups, countMax: groupsMax) }
        for group in names.sorted() { try check(group: group) }
        let byteCount = names.reduce(0) { $0 + $1.utf8.count + 2 }
        guard byteCount <= groupsBytesMax else { throw .long(.groups, bytesMax: groupsBytesMax) }
    }

    /// - Throws: why a text cannot be one of several groups.
    static func check(group: String) throws(CertificateError.Flaw) {
        try check(group, .groups)
        guard group != "*" else { throw .allAndOthers }
        let (comma, space) = (UInt8(ascii: ","), UInt8(ascii: " "))
        let bytes = group.utf8
        guard !bytes.contains(comma), bytes.first != space, bytes.last != space else { throw .unprintable(.groups) }
    }
}

/// A certificate with its secret key, which the owner of a key has in a file `NAME.key_secret`.
package struct SecretCertificate: Sendable {
    /// The part that others know.
    package let certificate: Certificate
    /// The part that only the owner knows.
    package let secretKey: SecretKey

    /// Joins both without checking that they belong together.
    package init(_ certificate: Certificate, secretKey: SecretKey) {
        self.certificate = certificate
        self.secretKey = secretKey
    }
}

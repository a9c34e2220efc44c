/// What a reducer knows of a key: whose it is, and what its owner may do. It is not signed, and not secret.
///
/// The text is ZeroMQ's: that of CZMQ's `zcert`, in a file `NAME.key`.
///
///     metadata
///         name = "thumbnails-1"
///         roles = "worker, sender"
///         groups = "images, video"
///         created = "2026-11-23T22:10:04.120Z"
///     curve
///         public-key = "…"
public struct Certificate: Hashable, Sendable {
    /// How many bytes each text may have: the name, a group, the time.
    public static let textBytesMax = 128
    /// How many groups a certificate may name.
    public static let groupsMax = 64
    /// How many bytes the list of groups may have, since a line of the format has at most 1024.
    public static let groupsBytesMax = 900
    /// How many bytes its text may have.
    public static let bytesMax = ZPLDocument.bytesMax

    /// Who has the key, for people; nil where the text does not say it.
    public let name: String?
    /// What its owner is to the loop. Empty in certificates of other programs.
    public let roles: Set<Role>
    /// The groups that its owner serves as a worker.
    public let groups: WorkerGroups
    /// When the pair was made, for people.
    public let created: String?
    /// The key.
    public let publicKey: PublicKey

    /// Creates a certificate whose text can be read again.
    /// - Throws: ``CertificateError`` for texts that are empty, too long, or do not print.
    public init(
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

    /// - Throws: what keeps a text from being the value of a field.
    static func check(_ text: String, _ field: CertificateError.Field) throws(CertificateError.Flaw) {
        guard !text.isEmpty else { throw .empty(field) }
        guard text.utf8.count <= textBytesMax else { throw .long(field, bytesMax: textBytesMax) }
        guard text.unicodeScalars.allSatisfy({ PrintedText.prints($0) && $0 != "\"" }) else {
            throw .unprintable(field)
        }
    }

    /// - Throws: what keeps groups from being in a certificate.
    package static func check(_ groups: WorkerGroups) throws(CertificateError.Flaw) {
        guard case .named(let names) = groups else { return }
        guard names.count <= groupsMax else { throw .many(.groups, countMax: groupsMax) }
        for group in names.sorted() { try check(group: group) }
        let byteCount = names.reduce(0) { $0 + $1.utf8.count + 2 }
        guard byteCount <= groupsBytesMax else { throw .long(.groups, bytesMax: groupsBytesMax) }
    }

    /// - Throws: what keeps a text from being one of several groups.
    static func check(group: String) throws(CertificateError.Flaw) {
        try check(group, .groups)
        guard group != "*" else { throw .allAndOthers }
        let (comma, space) = (UInt8(ascii: ","), UInt8(ascii: " "))
        let bytes = group.utf8
        guard !bytes.contains(comma), bytes.first != space, bytes.last != space else { throw .unprintable(.groups) }
    }
}

/// A certificate with its secret key: what the owner of a key has, in a file `NAME.key_secret`.
public struct SecretCertificate: Sendable {
    /// What others know.
    public let certificate: Certificate
    /// What its owner alone knows.
    public let secretKey: SecretKey

    /// Joins both. That they belong together is not checked.
    public init(_ certificate: Certificate, secretKey: SecretKey) {
        self.certificate = certificate
        self.secretKey = secretKey
    }
}

extension Certificate {
    /// Reads the text of a `.key` file. Unknown fields are skipped.
    /// - Throws: ``CertificateError`` for the first flaw, also if there is a secret key, which others must not see.
    package init(reading bytes: [UInt8]) throws(CertificateError) {
        let fields = try CertificateFields(bytes)
        if let item = fields[.secretKey] { throw CertificateError(.secretInPublic, line: item.line) }
        self = try fields.certificate()
    }
}

extension SecretCertificate {
    /// Reads the text of a `.key_secret` file. Unknown fields are skipped.
    /// - Throws: ``CertificateError`` for the first flaw. The error shows no part of the key.
    package init(reading bytes: [UInt8]) throws(CertificateError) {
        let fields = try CertificateFields(bytes)
        let certificate = try fields.certificate()
        self.init(
            certificate,
            secretKey: try fields.required(.secretKey) { text throws(KeyFlaw) in try SecretKey(z85: text) })
    }
}

/// The fields of a certificate. Each occurs at most once.
private struct CertificateFields {
    private var items: [CertificateError.Field: ZPLDocument.Item] = [:]

    init(_ bytes: [UInt8]) throws(CertificateError) {
        var section: CertificateError.Field?
        var seen: Set<String> = []
        for item in try ZPLDocument(bytes).items where item.level <= 1 {
            let field = CertificateError.Field(rawValue: item.name)
            if item.level == 0 { section = field }
            guard let section, section == .metadata || section == .curve else { continue }
            let path = item.level == 0 ? item.name : "\(section.rawValue)/\(item.name)"
            guard seen.insert(path).inserted else { throw CertificateError(.repeated(field), line: item.line) }
            if let field, item.level == 1, field.section == section { items[field] = item }
        }
    }

    subscript(field: CertificateError.Field) -> ZPLDocument.Item? { items[field] }

    func certificate() throws(CertificateError) -> Certificate {
        try Certificate(
            name: text(.name), roles: roles(), groups: groups(), created: text(.created),
            publicKey: required(.publicKey) { text throws(KeyFlaw) in try PublicKey(z85: text) })
    }

    /// The key in a field.
    func required<Key>(
        _ field: CertificateError.Field, read: (String) throws(KeyFlaw) -> Key
    ) throws(CertificateError) -> Key {
        guard let item = items[field] else { throw CertificateError(.missing(field)) }
        do throws(KeyFlaw) {
            return try read(item.value ?? "")
        } catch {
            throw CertificateError(.key(field, error), line: item.line)
        }
    }

    private func text(_ field: CertificateError.Field) throws(CertificateError) -> String? {
        try parsed(field) { text throws(CertificateError.Flaw) in
            try Certificate.check(text, field)
            return text
        }
    }

    private func roles() throws(CertificateError) -> Set<Role> {
        try parsed(.roles) { text throws(CertificateError.Flaw) in
            var roles: Set<Role> = []
            for word in Self.words(text) {
                guard !word.isEmpty else { throw .empty(.roles) }
                do throws(UnknownRole) {
                    roles.insert(try Role(parsing: word))
                } catch {
                    // If line ends were lost, this may be a part of a secret key, which must not be shown.
                    let isWord = word.count <= 24 && word.allSatisfy { $0.isASCII && $0.isLetter }
                    throw .role(isWord ? error : UnknownRole("…"))
                }
            }
            return roles
        } ?? []
    }

    private func groups() throws(CertificateError) -> WorkerGroups {
        try parsed(.groups) { text throws(CertificateError.Flaw) in
            let names = Self.words(text)
            if names == ["*"] { return .all }
            guard names.count <= Certificate.groupsMax else {
                throw .many(.groups, countMax: Certificate.groupsMax)
            }
            for name in names { try Certificate.check(group: name) }
            return .named(Set(names))
        } ?? .none
    }

    /// The value of a field, or nil if the field is missing. Flaws get the field's line.
    private func parsed<Value>(
        _ field: CertificateError.Field, _ parse: (String) throws(CertificateError.Flaw) -> Value
    ) throws(CertificateError) -> Value? {
        guard let item = items[field] else { return nil }
        do throws(CertificateError.Flaw) {
            return try parse(item.value ?? "")
        } catch {
            throw CertificateError(error, line: item.line)
        }
    }

    /// The parts of a list between commas, without the spaces around them.
    private static func words(_ list: String) -> [String] {
        list.split(separator: ",", omittingEmptySubsequences: false).map { word in
            let start = word.drop { $0 == " " }
            return String(start.reversed().drop { $0 == " " }.reversed())
        }
    }
}

extension CertificateError.Field {
    /// The section to which the field belongs, or nil for a section.
    fileprivate var section: CertificateError.Field? {
        switch self {
        case .metadata, .curve: nil
        case .name, .roles, .groups, .created: .metadata
        case .publicKey, .secretKey: .curve
        }
    }
}

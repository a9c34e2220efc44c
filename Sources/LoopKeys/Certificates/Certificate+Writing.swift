extension Certificate {
    /// The text of a `.key` file.
    package var text: String {
        let comments = [
            "ZeroMQ CURVE Public Certificate",
            "Whoever relies on it must have it from its owner, by a way on which others cannot change it.",
        ]
        return text(comments, keys: [(.publicKey, publicKey.z85)])
    }

    /// The text with comments, the metadata, and these keys.
    fileprivate func text(_ comments: [String], keys: [(CertificateError.Field, String)]) -> String {
        let fields: [(CertificateError.Field, String?)] = [
            (.name, name), (.roles, rolesText), (.groups, groupsText), (.created, created),
        ]
        let metadata = fields.compactMap { field, value in value.map { Self.line(field, $0) } }
        let head = comments.map { "#   \($0)" } + ["", CertificateError.Field.metadata.rawValue]
        let tail = [CertificateError.Field.curve.rawValue] + keys.map { Self.line($0, $1) }
        return (head + metadata + tail).map { $0 + "\n" }.joined()
    }

    private var rolesText: String? {
        let names = Role.allCases.filter(roles.contains).map(\.rawValue)
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    private var groupsText: String? {
        switch groups {
        case .all: "*"
        case .named(let names): names.isEmpty ? nil : names.sorted().joined(separator: ", ")
        }
    }

    private static func line(_ field: CertificateError.Field, _ value: String) -> String {
        "    \(field.rawValue) = \"\(value)\""
    }
}

extension SecretCertificate {
    /// The text of a `.key_secret` file, with the secret key.
    package var text: String {
        let comments = [
            "ZeroMQ CURVE **Secret** Certificate",
            "DO NOT PROVIDE THIS FILE TO OTHER USERS nor change its permissions.",
        ]
        return certificate.text(
            comments, keys: [(.publicKey, certificate.publicKey.z85), (.secretKey, secretKey.z85)])
    }
}

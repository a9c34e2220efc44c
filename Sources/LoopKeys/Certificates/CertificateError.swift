/// Why a text is not a certificate, and in which line.
package struct CertificateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A part of a certificate, by its name in the text.
    package enum Field: String, Hashable, Sendable {
        case metadata, name, roles, groups, created, curve
        case publicKey = "public-key"
        case secretKey = "secret-key"
    }

    /// What is wrong.
    package enum Flaw: Error, Hashable, Sendable {
        /// The text has more bytes than this.
        case tooLarge(bytesMax: Int)
        /// The bytes are not UTF-8.
        case notText
        /// A byte could control a terminal, or is one that people do not write.
        case controlCharacter
        /// The line has more bytes than this.
        case longLine(bytesMax: Int)
        /// The line is not indented by four spaces more than the item it belongs to.
        case indentation
        /// The line is neither a name nor a name with a value.
        case syntax
        /// The value's quotation mark is not closed.
        case openQuotation
        /// The field occurs twice.
        case repeated(Field?)
        /// The field is missing.
        case missing(Field)
        /// The field has no value.
        case empty(Field)
        /// The field's text has more bytes than this.
        case long(Field, bytesMax: Int)
        /// The field's text has characters that do not print, or that the format cannot express.
        case unprintable(Field)
        /// The list has more parts than this.
        case many(Field, countMax: Int)
        /// A group is `*`, and there are others next to it.
        case allAndOthers
        /// A role is unknown.
        case role(UnknownRole)
        /// The text of a key is not a key.
        case key(Field, KeyFlaw)
        /// A public certificate has a secret key.
        case secretInPublic
    }

    /// The line, from 1, or nil if the flaw does not belong to a line.
    package let line: Int?
    /// What is wrong.
    package let flaw: Flaw

    package init(_ flaw: Flaw, line: Int? = nil) {
        self.line = line
        self.flaw = flaw
    }

    /// One line: the line number, what is wrong, and what to do. It shows no part of a key.
    package var description: String { (line.map { "line \($0): " } ?? "") + flaw.text }
}

extension CertificateError.Flaw {
    fileprivate var text: String {
        switch self {
        case .tooLarge(let bytesMax):
            "a certificate has at most \(bytesMax) bytes, and this has more; name a file that loopctl keygen has written"
        case .notText: "the bytes are no text (UTF-8); name a file that loopctl keygen has written"
        case .controlCharacter: "there is a control character; remove it, or copy the file again"
        case .longLine(let bytesMax): "the line has more than \(bytesMax) bytes; shorten it"
        case .indentation: "a line is indented by four spaces, below the section that it belongs to; correct the spaces"
        case .syntax: #"a line is a section, or a field as in: name = "value"; correct it"#
        case .openQuotation: "the quotation mark is not closed; close it"
        case .repeated(let field): "\(field?.rawValue ?? "a field") is there twice; remove one of them"
        case .missing(let field): "\(field.rawValue) is missing; copy the file again, or make a new one: loopctl keygen"
        case .empty(let field): "\(field.rawValue) has no value; give it one, or remove the line"
        case .long(let field, let bytesMax): "\(field.rawValue) has a text of more than \(bytesMax) bytes; shorten it"
        case .unprintable(let field):
            "\(field.rawValue) has a quotation mark, or another character that cannot stand there; remove it"
        case .many(let field, let countMax): "\(field.rawValue) names more than \(countMax); name fewer"
        case .allAndOthers: "groups are names or *, and not both; remove one of them"
        case .role(let unknown): "\(unknown)"
        case .key(let field, let flaw):
            "\(field.rawValue) \(flaw); copy the file again, and put the key into quotation marks"
        case .secretInPublic:
            "this file holds a secret key, which is its owner's alone; put the .key file here, and not the .key_secret"
        }
    }
}

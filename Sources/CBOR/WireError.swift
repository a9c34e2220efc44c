/// An error in bytes or text that came from outside.
///
/// Every entry point of this module that reads foreign bytes throws only this type. Each case has what a person needs to find the
/// error: what was read, at which position, and with which value. Texts from the input are shortened first.
@usableFromInline package enum WireError: Error, Equatable, Sendable {
    /// The bytes end too early: `needed` bytes were to be read, `have` were left.
    case truncated(needed: Int, have: Int, what: String)
    /// The bytes at `offset` are not what they claim to be.
    case malformed(what: String, offset: Int)
    /// A size exceeds its configured limit. Sizes are in bytes unless `what` says otherwise.
    case tooLarge(what: String, size: Int, limit: Int)
    /// Arrays, maps and tags are nested deeper than the limit allows.
    case tooDeep(limit: Int, offset: Int)
    /// Bytes that belong to nothing follow a value.
    case trailingBytes(count: Int, offset: Int)
    /// A map has one key twice.
    case duplicateKey(key: String, offset: Int)
    /// A value is of another kind than the type that reads it expects.
    case typeMismatch(path: String, expected: String, found: String)
    /// A required key is absent.
    case keyMissing(path: String, key: String)
    /// A number does not fit the type that reads it.
    case outOfRange(path: String, type: String, value: String)
    /// A type refused a value by its own rules, or a value cannot be encoded.
    case refused(path: String, why: String)
    /// A JSON text breaks the grammar. Line and column start at 1, and columns count characters.
    case json(line: Int, column: Int, expected: String, found: String)
}

extension WireError: CustomStringConvertible {
    /// One sentence for people, with the values at fault.
    @usableFromInline package var description: String {
        switch self {
        case .truncated(let needed, let have, let what):
            "truncated \(what): \(needed) bytes needed, \(have) left"
        case .malformed(let what, let offset):
            "malformed bytes at offset \(offset): \(what)"
        case .tooLarge(let what, let size, let limit):
            "\(what) too large: \(size), the limit is \(limit)"
        case .tooDeep(let limit, let offset):
            "nested deeper than \(limit) levels at offset \(offset)"
        case .trailingBytes(let count, let offset):
            "\(count) bytes after the end of the value at offset \(offset)"
        case .duplicateKey(let key, let offset):
            "the key \(key) appears a second time at offset \(offset)"
        case .typeMismatch(let path, let expected, let found):
            "at \(path): expected \(expected), found \(found)"
        case .keyMissing(let path, let key):
            "at \(path): the key \"\(key)\" is missing"
        case .outOfRange(let path, let type, let value):
            "at \(path): \(value) does not fit \(type)"
        case .refused(let path, let why):
            "at \(path): \(why)"
        case .json(let line, let column, let expected, let found):
            "JSON, line \(line), column \(column): expected \(expected), found \(found)"
        }
    }
}

/// The lines of a text in ZeroMQ's property language (RFC 4), in which certificates are written.
///
///     # a comment
///     section
///         name = "value"      # quoted by " or ', or bare up to a comment
///
/// Each level is indented by four spaces. Errors show no part of the text, because it may be a secret.
struct ZPLDocument {
    /// One line with a name.
    struct Item: Equatable {
        /// The line, from 1.
        let line: Int
        /// The level of indentation: 0 for a section, 1 for its fields.
        let level: Int
        let name: String
        /// The value, or nil if there is no `=`.
        let value: String?
    }

    static let bytesMax = 64 << 10
    static let lineBytesMax = 1024

    /// In the order of the text. Each belongs to the nearest item before it that has a lower level.
    let items: [Item]

    /// - Throws: the first flaw of the text.
    init(_ bytes: [UInt8]) throws(CertificateError) {
        guard bytes.count <= Self.bytesMax else { throw CertificateError(.tooLarge(bytesMax: Self.bytesMax)) }
        guard String(validating: bytes, as: UTF8.self) != nil else { throw CertificateError(.notText) }
        var items: [Item] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            do throws(CertificateError.Flaw) {
                guard let parts = try Self.parts(of: line) else { continue }
                guard parts.level <= (items.last?.level ?? -1) + 1 else { throw .indentation }
                items.append(Item(line: index + 1, level: parts.level, name: parts.name, value: parts.value))
            } catch {
                throw CertificateError(error, line: index + 1)
            }
        }
        self.items = items
    }

    /// The parts of a line, or nil if it is empty or a comment.
    private static func parts(
        of line: ArraySlice<UInt8>
    ) throws(CertificateError.Flaw) -> (level: Int, name: String, value: String?)? {
        guard line.count <= lineBytesMax else { throw .longLine(bytesMax: lineBytesMax) }
        var rest = line
        if rest.last == UInt8(ascii: "\r") { rest.removeLast() }
        guard !rest.contains(where: { $0 < 32 && $0 != UInt8(ascii: "\t") || $0 == 127 }) else {
            throw .controlCharacter
        }
        let spaces = rest.prefix { $0 == UInt8(ascii: " ") }.count
        rest = rest.dropFirst(spaces)
        if isOver(rest) { return nil }
        guard spaces % 4 == 0, !isBlank(rest.first) else { throw .indentation }
        let name = rest.prefix(while: isOfName)
        guard !name.isEmpty else { throw .syntax }
        rest = rest.dropFirst(name.count).drop(while: isBlank)
        let value = try value(in: rest)
        return (spaces / 4, text(name), value)
    }

    /// Reads the rest of a line after a name: nothing, or `=` and a value.
    private static func value(in rest: ArraySlice<UInt8>) throws(CertificateError.Flaw) -> String? {
        if isOver(rest) { return nil }
        guard rest.first == UInt8(ascii: "=") else { throw .syntax }
        let value = rest.dropFirst().drop(while: isBlank)
        guard let mark = value.first, mark == UInt8(ascii: "\"") || mark == UInt8(ascii: "'") else {
            var bare = value.prefix { $0 != UInt8(ascii: "#") }
            while isBlank(bare.last) { bare.removeLast() }
            return text(bare)
        }
        let quoted = value.dropFirst()
        guard let end = quoted.firstIndex(of: mark) else { throw .openQuotation }
        guard isOver(quoted[end...].dropFirst()) else { throw .syntax }
        return text(quoted[..<end])
    }

    /// Whether only blanks and a comment follow.
    private static func isOver(_ rest: ArraySlice<UInt8>) -> Bool {
        let first = rest.first { !isBlank($0) }
        return first == nil || first == UInt8(ascii: "#")
    }

    private static func isBlank(_ byte: UInt8?) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "$-_@.&+/".utf8.contains(byte)
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension String {
    /// The text as one word of a command line: in single quotes if a shell would read it otherwise.
    public var shellWord: String {
        if !isEmpty, utf8.allSatisfy(Self.plain.contains) { return self }
        return "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    /// The text for a URL: all bytes but ASCII letters, digits and these marks are written as `%XX`. (RFC 3986, section 2.1)
    public func percentEncoded(keeping marks: String) -> String {
        let (plain, digits) = (Self.lettersAndDigits.union(marks.utf8), Array("0123456789ABCDEF".utf8))
        let bytes = utf8.flatMap { byte in
            plain.contains(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let lettersAndDigits = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

    /// The bytes that no shell reads as anything else, anywhere in a word.
    private static let plain = lettersAndDigits.union("_@%+=:,./-".utf8)
}

extension String {
    /// The text as one word of a command line: in single quotes if a shell would read it otherwise.
    package var shellWord: String {
        if !isEmpty, utf8.allSatisfy(Self.plain.contains) { return self }
        return "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    /// The bytes that no shell reads as anything else, anywhere in a word.
    private static let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-".utf8)
}

/// A wrong command line or environment variable: one line that says what is wrong and what to do.
///
/// The program prints `program: description` and exits with 64.
public struct UsageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, with the word it is about: `unknown option --worker`.
    public let message: String
    /// What to do instead: `did you mean --workers?`.
    public let hint: String?

    /// Creates an error from its parts, and removes passwords of URLs from them. The description joins both into one
    /// line.
    public init(message: String, hint: String? = nil) {
        self.message = Redaction.of(message)
        self.hint = hint.map(Redaction.of)
    }

    /// Message and hint in one line.
    public var description: String { hint.map { "\(message); \($0)" } ?? message }
}

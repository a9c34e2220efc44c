/// A wrong command line or environment variable. It says in one line what is wrong and what to do.
///
/// The program prints `program: description` and exits with 64.
public struct UsageError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, with the word in question: `unknown option --worker`.
    public let message: String
    /// What to do instead: `did you mean --workers?`.
    public let hint: String?

    /// Creates an error from its parts, and removes the passwords of URLs from them. Its description joins both in one line.
    public init(message: String, hint: String? = nil) {
        self.message = Redaction.of(message)
        self.hint = hint.map { Redaction.of($0) }
    }

    /// Message and hint in one line.
    public var description: String { hint.map { "\(message); \($0)" } ?? message }
}

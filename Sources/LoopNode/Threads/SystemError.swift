internal import Glibc

/// The system refused something: what, with which code, and about what.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What was being done, to follow "could not": `create an eventfd`.
    public let operation: String
    /// The `errno` of the call.
    public let code: Int32
    /// What to do about it, where that is known.
    public let hint: String?

    /// Creates the error of a call that failed with an `errno`.
    public init(_ operation: String, code: Int32, hint: String? = nil) {
        self.operation = operation
        self.code = code
        self.hint = hint
    }

    /// What the code means, in the system's words.
    public var text: String { strerror(code).map { String(cString: $0) } ?? "error \(code)" }

    /// One line: `could not start /bin/x: Permission denied`.
    public var description: String { "could not \(operation): \(text)" + (hint.map { " (\($0))" } ?? "") }
}

// Unsafe: the system's text is copied at once.

internal import Glibc

/// A call that the system refused, with its code and what it was about.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The operation that failed, as text that follows "could not": `create an eventfd`.
    public let operation: String
    /// The `errno` of the call.
    public let code: Int32
    /// What to do about it, or nil if that is not known.
    public let hint: String?

    /// Creates the error of a call that failed with an `errno`.
    public init(_ operation: String, code: Int32, hint: String? = nil) {
        self.operation = operation
        self.code = code
        self.hint = hint
    }

    /// The error of a file that was opened but cannot be used.
    init(_ operation: String, _ flaw: FileFlaw, _ path: String) {
        self.init(operation, code: EPERM, hint: "it \(flaw.text); \(flaw.remedy(path))")
    }

    /// The error of the call that has just failed on this thread.
    init(_ operation: String) { self.init(operation, code: errno) }

    /// The system's text for the code.
    public var text: String { unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)" }

    /// The system's text for the error of the call that has just failed on this thread.
    public static var lastText: String { SystemError("").text }

    /// One line: `could not start /bin/x: Permission denied`.
    public var description: String { "could not \(operation): \(text)" + (hint.map { " (\($0))" } ?? "") }
}

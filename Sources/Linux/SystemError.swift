// Unsafe: the system's text is copied at once.

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

    /// The error of a file that was opened and is not used.
    init(_ operation: String, _ flaw: FileFlaw, _ path: String) {
        self.init(operation, code: EPERM, hint: "it \(flaw.text); \(flaw.remedy(path))")
    }

    /// The error of the call that has just failed on this thread.
    init(_ operation: String) { self.init(operation, code: errno) }

    /// What the code means, in the system's words.
    public var text: String { unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)" }

    /// What the code of the call that has just failed on this thread means.
    public static var lastText: String { SystemError("").text }

    /// One line: `could not start /bin/x: Permission denied`.
    public var description: String { "could not \(operation): \(text)" + (hint.map { " (\($0))" } ?? "") }
}

// Unsafe: the system's text is copied at once.

internal import Glibc

/// A call that the system refused, with its code and what it was about.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The operation that failed, as text that follows "could not": `create an eventfd`.
    package let operation: String
    /// The `errno` of the call.
    package let code: Int32
    /// What to do about it, or nil if that is not known.
    package let hint: String?

    /// Creates the error of a call that failed with an `errno`.
    package init(_ operation: String, code: Int32, hint: String? = nil) {
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
    package var text: String { unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)" }

    /// The system's text for the error of the call that has just failed on this thread.
    package static var lastText: String { SystemError("").text }

    /// One line: `could not start /bin/x: Permission denied`.
    package var description: String { "could not \(operation): \(text)" + (hint.map { " (\($0))" } ?? "") }
}

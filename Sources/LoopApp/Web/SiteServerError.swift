package import LoopNode

/// Why a server could not be started.
public struct SiteServerError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of errors.
    package enum Code: Equatable, Sendable {
        /// The folder does not exist, is not a folder, or may not be read.
        case folderUnreadable
        /// The host is neither an address of this machine nor a name of one.
        case hostUnknown
        /// The address could not be bound: another process uses it, or it is not allowed.
        case addressUnavailable
    }

    /// The kind of the error.
    package let code: Code

    /// What went wrong, with which value, and what to do, in one line.
    public let description: String

    package init(_ error: HTTPDaemon.StartError) {
        switch error {
        case .hostUnknown(let text): self.init(.hostUnknown, text)
        case .addressUnavailable(let text): self.init(.addressUnavailable, text)
        }
    }

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

/// Why a server could not be started.
public struct SiteServerError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Code: Equatable, Sendable {
        /// The folder does not exist, is not a folder, or may not be read.
        case folderUnreadable
        /// The host is neither an address of this machine nor a name of one.
        case hostUnknown
        /// The address could not be bound: another process uses it, or it is not allowed.
        case addressUnavailable
    }

    /// The kind of the error.
    public let code: Code

    /// What went wrong, with which value, and what to do, in one line.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

extension HTTPDaemon {
    /// Starts a daemon.
    /// - Throws: `hostUnknown`, `addressUnavailable`.
    static func started(_ settings: Settings, _ handler: any HTTPHandler) throws(SiteServerError)
        -> HTTPDaemon
    {
        let (host, port) = (settings.host, settings.port)
        do throws(HTTPDaemonError) {
            return try HTTPDaemon(settings, handler: handler)
        } catch {
            switch error {
            case .unknownHost(let reason):
                throw SiteServerError(
                    .hostUnknown,
                    "cannot listen on \"\(host)\": \(reason); give an address of this machine, such as 127.0.0.1"
                )
            case .unavailable(let reason):
                throw SiteServerError(
                    .addressUnavailable,
                    "cannot listen on \(host) port \(port): \(reason); give another port, or 0 for any")
            }
        }
    }
}

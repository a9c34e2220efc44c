internal import HTTPServer

/// Why a server could not be started.
public struct SiteServerError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What kind of thing went wrong.
    public enum Code: Equatable, Sendable {
        /// The folder does not exist, is no folder, or may not be read.
        case folderUnreadable
        /// The host is no address of this machine and no name of one.
        case hostUnknown
        /// The address could not be bound: taken by another process, or not allowed.
        case addressUnavailable
    }

    /// What kind of thing went wrong.
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

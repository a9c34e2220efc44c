internal import LoopNode

/// Why a server could not be started.
public struct SiteServerError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Whether the address could not be bound: another process uses it, or it is not allowed.
    package let isAddressUnavailable: Bool

    /// What went wrong, with which value, and what to do, in one line.
    public let description: String

    init(_ error: HTTPDaemon.StartError) {
        isAddressUnavailable = error.isAddressUnavailable
        description = error.description
    }

    /// The folder does not exist, is not a folder, or may not be read.
    init(unreadable folder: String, _ reason: String) {
        isAddressUnavailable = false
        description = "cannot serve the folder \"\(folder)\": \(reason); give a folder that can be read"
    }
}

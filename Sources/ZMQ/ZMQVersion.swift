internal import CZMQ

/// The version of the libzmq that this process runs with, which may be newer than the one it was built with.
public struct ZMQVersion: Sendable, Equatable, CustomStringConvertible {
    public let major: Int
    public let minor: Int
    public let patch: Int

    /// The version of the loaded library.
    public static var current: ZMQVersion {
        var major: Int32 = 0
        var minor: Int32 = 0
        var patch: Int32 = 0
        zmq_version(&major, &minor, &patch)
        return ZMQVersion(major: Int(major), minor: Int(minor), patch: Int(patch))
    }

    public var description: String { "\(major).\(minor).\(patch)" }
}

// Unsafe: libzmq writes three numbers during the call.

internal import CZMQ

/// The version of the libzmq that this process runs with. It may be newer than the one it was built with.
public struct ZMQVersion: Sendable, Equatable, CustomStringConvertible {
    /// The first number, which grows with incompatible changes.
    public let major: Int
    /// The second number, which grows with additions.
    public let minor: Int
    /// The third number, which grows with corrections.
    public let patch: Int

    /// The version of the loaded library.
    public static var current: ZMQVersion {
        var major: Int32 = 0
        var minor: Int32 = 0
        var patch: Int32 = 0
        unsafe zmq_version(&major, &minor, &patch)
        return ZMQVersion(major: Int(major), minor: Int(minor), patch: Int(patch))
    }

    /// The version as libzmq writes it, such as `4.3.4`.
    public var description: String { "\(major).\(minor).\(patch)" }
}

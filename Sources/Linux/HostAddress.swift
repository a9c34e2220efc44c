// Unsafe: the system reads and fills arrays of the right size during the call.

internal import Glibc

/// A numeric address of a host: of IPv4, or of IPv6 with the zone of a link-local address.
public struct HostAddress: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The 4 bytes of IPv4 or the 16 of IPv6, the most significant first.
    private let bytes: [UInt8]
    /// The name or number of an interface, or an empty text.
    private let zone: String

    /// - Parameter text: such as `10.0.0.1`, `::1` or `fe80::1%eth0`, without brackets. It is nil for a name.
    public init?(_ text: String) {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        let isIPv6 = text.contains(":")
        guard isIPv6 || parts.count == 1, parts.last?.isEmpty == false, !text.utf8.contains(0) else { return nil }
        var bytes = [UInt8](repeating: 0, count: isIPv6 ? 16 : 4)
        guard unsafe inet_pton(isIPv6 ? AF_INET6 : AF_INET, String(parts[0]), &bytes) == 1 else { return nil }
        self.bytes = bytes
        zone = parts.count > 1 ? String(parts[1]) : ""
    }

    /// Whether it is of IPv6, and so is written in brackets before a port.
    public var isIPv6: Bool { bytes.count == 16 }

    /// The bytes of the address. An IPv4 address in the form of IPv6 (`::ffff:10.0.0.1`) has the bytes of IPv4.
    private var plain: ArraySlice<UInt8> {
        isIPv6 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
            ? bytes[12...] : bytes[...]
    }

    /// Whether only this machine can reach it.
    public var isLoopback: Bool {
        plain.count == 4 ? plain.first == 127 : bytes.last == 1 && bytes.dropLast().allSatisfy { $0 == 0 }
    }

    /// Whether it means all addresses of a machine.
    public var isUnspecified: Bool { plain.allSatisfy { $0 == 0 } }

    /// The name under which limits count a machine: its address of IPv4, or the first 64 bits of that of IPv6, because
    /// a machine may use all addresses with the same 64 bits.
    public var machine: String {
        if plain.count == 4 { return plain.map(String.init).joined(separator: ".") }
        return Self.text(bytes.prefix(8) + [UInt8](repeating: 0, count: 8)) + "/64"
    }

    /// The shortest usual form, without brackets.
    public var description: String { Self.text(bytes) + (zone.isEmpty ? "" : "%\(zone)") }

    private static func text(_ bytes: [UInt8]) -> String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        _ = unsafe inet_ntop(bytes.count == 16 ? AF_INET6 : AF_INET, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    }

    /// Addresses of IPv4 come first.
    public static func < (left: HostAddress, right: HostAddress) -> Bool {
        if left.bytes.count != right.bytes.count { return left.bytes.count < right.bytes.count }
        return left.bytes == right.bytes ? left.zone < right.zone : left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// The error of looking up a host name that has no address.
public struct UnknownHost: Error, Hashable, Sendable {
    /// The reason in the system's words, such as "Name or service not known".
    public let reason: String
}

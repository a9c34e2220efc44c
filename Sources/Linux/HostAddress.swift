// Unsafe: the system reads and fills arrays of the right size during the call.

internal import Glibc

/// The numeric address of a host: IPv4, or IPv6 with the zone of a link-local address.
package struct HostAddress: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// 4 bytes of IPv4 or 16 bytes of IPv6, the highest first.
    private let bytes: [UInt8]
    /// The name or number of an interface, or an empty text.
    private let zone: String

    /// - Parameter text: an address such as `10.0.0.1`, `::1` or `fe80::1%eth0`, without brackets. A name gives nil.
    package init?(_ text: String) {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        let isIPv6 = text.contains(":")
        guard isIPv6 || parts.count == 1, parts.last?.isEmpty == false, !text.utf8.contains(0) else { return nil }
        var bytes = [UInt8](repeating: 0, count: isIPv6 ? 16 : 4)
        guard unsafe inet_pton(isIPv6 ? AF_INET6 : AF_INET, String(parts[0]), &bytes) == 1 else { return nil }
        self.bytes = bytes
        zone = parts.count > 1 ? String(parts[1]) : ""
    }

    /// Whether it is an IPv6 address, which needs brackets before a port.
    package var isIPv6: Bool { bytes.count == 16 }

    /// The address without the prefix by which IPv6 names an IPv4 address (`::ffff:10.0.0.1`).
    private var plain: ArraySlice<UInt8> {
        isIPv6 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
            ? bytes[12...] : bytes[...]
    }

    /// Whether only this machine can reach it.
    package var isLoopback: Bool {
        plain.count == 4 ? plain.first == 127 : bytes.last == 1 && bytes.dropLast().allSatisfy { $0 == 0 }
    }

    /// Whether it is an IPv6 address that only the machines at one interface know (`fe80::/10`).
    package var isLinkLocal: Bool { isIPv6 && bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 }

    /// Whether it names its interface.
    package var hasZone: Bool { !zone.isEmpty }

    /// Whether it means all addresses of a machine.
    package var isUnspecified: Bool { plain.allSatisfy { $0 == 0 } }

    /// The machine behind the address, for limits per machine. It is an IPv4 address, or the first 64 bits of an IPv6 address,
    /// because one machine may use all addresses with these bits.
    package var machine: String {
        if plain.count == 4 { return plain.map(String.init).joined(separator: ".") }
        return Self.text(bytes.prefix(8) + [UInt8](repeating: 0, count: 8)) + "/64"
    }

    /// The shortest usual form, without brackets.
    package var description: String { Self.text(bytes) + (zone.isEmpty ? "" : "%\(zone)") }

    private static func text(_ bytes: [UInt8]) -> String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        _ = unsafe inet_ntop(bytes.count == 16 ? AF_INET6 : AF_INET, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
    }

    /// Orders IPv4 addresses before IPv6 addresses.
    package static func < (left: HostAddress, right: HostAddress) -> Bool {
        if left.bytes.count != right.bytes.count { return left.bytes.count < right.bytes.count }
        return left.bytes == right.bytes ? left.zone < right.zone : left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// A host name has no address. The reason is the system's text.
package struct UnknownHost: Error, Hashable, Sendable {
    /// The reason, such as "Name or service not known".
    package let reason: String
}

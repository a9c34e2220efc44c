import Linux
import LoopNode

/// The address on which a server listens: `127.0.0.1:8080`, `localhost:80`, `[::1]:8080`.
struct HostAndPort: Equatable, Sendable, CustomStringConvertible {
    /// The host without brackets.
    var host: String
    var port: UInt16

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Creates an address, or nil if the text does not have the form HOST:PORT.
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        self.init(host: String(host), port: port)
    }

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Whether only this machine can reach the address.
    var isLoopback: Bool { host == "localhost" || HostAddress(host)?.isLoopback == true }
}

extension ValueType where Value == HostAndPort {
    static var hostAndPort: ValueType {
        ValueType(
            placeholder: "HOST:PORT", expected: "an address such as 127.0.0.1:8080 or [::1]:8080",
            read: { HostAndPort($0) }, write: { $0.description })
    }
}

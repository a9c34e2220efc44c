import Linux

/// The endpoint of one socket, as ZeroMQ writes it.
enum Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// The host. An IPv6 address has brackets, and its shortest usual form.
    case tcp(host: String, port: UInt16)
    case ipc(path: String)
    /// A name within one ZeroMQ context of one process.
    case inproc(name: String)

    /// The valid forms, for people.
    static let form = "tcp://HOST:PORT, ipc://PATH or inproc://NAME"
    /// The name of the network interface that only this machine reaches.
    static let loopbackInterface = "lo"
    /// The longest path that the system allows for a socket.
    private static let pathBytesMax = 107

    /// - Throws: `NodeError.endpoint` with what is wrong.
    init(parsing text: String) throws(NodeError) {
        func rest(after scheme: String) -> String? {
            text.hasPrefix(scheme) ? String(text.dropFirst(scheme.count)) : nil
        }
        if let place = rest(after: "tcp://") {
            self = try Self.tcp(place, of: text)
        } else if let path = rest(after: "ipc://") {
            guard !path.isEmpty else { throw .endpoint(text, "it names no path") }
            let count = path.utf8.count
            guard count <= Self.pathBytesMax else {
                throw .endpoint(text, "its path has \(count) bytes, of at most \(Self.pathBytesMax)")
            }
            self = .ipc(path: path)
        } else if let name = rest(after: "inproc://") {
            guard !name.isEmpty else { throw .endpoint(text, "it has no name") }
            self = .inproc(name: name)
        } else {
            throw .endpoint(text, "it begins with none of tcp://, ipc://, inproc://")
        }
    }

    private static func tcp(_ place: String, of text: String) throws(NodeError) -> Endpoint {
        guard !place.contains("@") else {
            throw .endpoint(text, "it has a user name or a password, which no reducer takes; leave that out")
        }
        let colon = place.lastIndex(of: ":").flatMap { place.hasSuffix("]") ? nil : $0 }
        guard let colon else { throw .endpoint(text, "it names no port") }
        let (host, number) = (place[..<colon], place[place.index(after: colon)...])
        guard let port = UInt16(number) else { throw .endpoint(text, "'\(number)' is no port") }
        guard !host.isEmpty else { throw .endpoint(text, "it names no host") }
        if host.hasPrefix("["), host.hasSuffix("]") {
            guard let address = HostAddress(String(host.dropFirst().dropLast())), address.isIPv6,
                !host.contains(where: { $0.isWhitespace || "/,;@".contains($0) })
            else { throw .endpoint(text, "'\(host)' is no IPv6 address") }
            guard !address.isLinkLocal || address.hasZone else {
                throw .endpoint(
                    text,
                    "'\(host)' is a link-local address, which needs an interface, as in tcp://[\(address)%eth0]:\(port)"
                )
            }
            return .tcp(host: "[\(address)]", port: port)
        }
        guard !host.contains(":") else {
            throw .endpoint(text, "an IPv6 address stands in brackets, as in tcp://[::1]:7710")
        }
        guard !host.contains(where: { $0.isWhitespace || "/,;@[]%".contains($0) }) else {
            throw .endpoint(text, "'\(host)' is no host")
        }
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw .endpoint(text, "'\(host)' is not in ASCII; write the name as the DNS has it, which begins with xn--")
        }
        // The system would read 1.2.3 as 1.2.0.3.
        if let last = host.lowercased().split(separator: ".", omittingEmptySubsequences: false).last,
            HostAddress(String(host)) == nil,
            last.hasPrefix("0x") || !last.isEmpty && last.allSatisfy({ "0123456789".contains($0) })
        {
            throw .endpoint(text, "'\(host)' is no IPv4 address, which has four numbers from 0 to 255")
        }
        return .tcp(host: String(host), port: port)
    }

    /// The address in digits, or nil for a name, `*` or an endpoint without a host.
    var address: HostAddress? {
        guard case .tcp(let host, _) = self else { return nil }
        return HostAddress(host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host)
    }

    /// The name of a host that has to be looked up, or nil.
    var name: String? {
        guard case .tcp(let host, _) = self, host != "*", address == nil else { return nil }
        return host
    }

    /// The endpoint with an address instead of the host.
    func with(_ address: HostAddress) -> Endpoint {
        guard case .tcp(_, let port) = self else { return self }
        return .tcp(host: address.isIPv6 ? "[\(address)]" : "\(address)", port: port)
    }

    var description: String {
        switch self {
        case .tcp(let host, let port): "tcp://\(host):\(port)"
        case .ipc(let path): "ipc://\(path)"
        case .inproc(let name): "inproc://\(name)"
        }
    }

    /// What the reducer advertises of it to peers: only the port if it has one, because the peer knows the host, else the endpoint.
    var advertised: String {
        if case .tcp(_, let port) = self { "\(port)" } else { description }
    }

    /// The endpoint to which a process of this machine connects. It is an IPv4 address also for `[::]`, because that socket
    /// takes IPv4 connections too, and a machine may have IPv6 without `::1`.
    var dialledHere: Endpoint {
        guard isWildcard || name == Self.loopbackInterface, case .tcp(_, let port) = self else { return self }
        return .tcp(host: "127.0.0.1", port: port)
    }

    /// Whether it means all addresses of the machine, so that no client can connect to it as written.
    var isWildcard: Bool {
        if case .tcp("*", _) = self { return true }
        return address?.isUnspecified ?? false
    }

    /// The endpoint for the reducer's key that is `places` keys further. Each key takes three ports.
    func next(_ places: Int) throws(NodeError) -> Endpoint {
        guard places > 0 else { return self }
        switch self {
        case .tcp(let host, let port):
            guard let next = UInt16(exactly: Int(port) + 3 * places) else {
                throw .endpoint(description, "there is no port for the reducer's key \(places + 1)")
            }
            return .tcp(host: host, port: next)
        case .ipc(let path): return try Endpoint(parsing: "ipc://\(path).\(places + 1)")
        case .inproc(let name): return .inproc(name: "\(name).\(places + 1)")
        }
    }

    /// The local side of connections to it, or nil if they have no descriptors.
    var localAddress: Connections.LocalAddress? {
        switch self {
        case .tcp(_, let port): .port(port)
        case .ipc(let path): .path(path)
        case .inproc: nil
        }
    }

    /// Whether only processes of this machine can reach it.
    var isLocal: Bool {
        switch self {
        case .tcp(let host, _):
            address?.isLoopback
                ?? (host == Self.loopbackInterface || ["localhost", "localhost."].contains(host.lowercased()))
        case .ipc, .inproc: true
        }
    }
}

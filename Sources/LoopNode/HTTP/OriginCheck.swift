internal import Linux

/// Decides whether a page of this server made a request, or another site's page in the same browser.
///
/// Browsers say in `Sec-Fetch-Site` or `Origin` whose page makes a request, and a page cannot change that. The name in `Host` is
/// checked too. Otherwise another site's name could be pointed at this address ("DNS rebinding"), and its pages would be of the
/// same origin.
package struct OriginCheck: Sendable {
    /// Names that the server answers to, in lower case, without ports.
    package let hosts: Set<String>
    /// Whether the server answers to any IP address too. Unlike a name, an address cannot be pointed elsewhere.
    package let allowsAddresses: Bool

    /// Allows these names.
    package init(hosts: [String], allowsAddresses: Bool = false) {
        self.hosts = Set(hosts.map { $0.lowercased() })
        self.allowsAddresses = allowsAddresses
    }

    /// For a server that other machines cannot reach: allows addresses, and the names that always mean this machine.
    package static func loopback(_ host: String) -> OriginCheck {
        OriginCheck(hosts: ["localhost", host], allowsAddresses: true)
    }

    /// Whether only this machine can reach a server that listens on this host.
    package static func isLoopback(_ host: String) -> Bool {
        host.lowercased() == "localhost" || HostAddress(host)?.isLoopback == true
    }

    /// Whether the request is meant for this server.
    package func isOurs(host: String?) -> Bool {
        guard let host else { return false }
        let name = Self.name(of: host)
        if hosts.contains(name) || allowsAddresses && Self.isAddress(name) { return true }
        // Names below `localhost` are this machine's, by RFC 6761.
        return hosts.contains("localhost") && name.hasSuffix(".localhost")
    }

    /// Whether a name is four numbers, or is in brackets.
    private static func isAddress(_ name: String) -> Bool {
        if name.hasPrefix("[") { return name.hasSuffix("]") }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Whether a page of this server makes the request.
    /// - Parameter allowsUnknown: the result for a browser that sends neither header.
    package func isSameOrigin(_ request: borrowing HTTPRequest, allowsUnknown: Bool = false) -> Bool {
        isSameOrigin(
            site: request.header("Sec-Fetch-Site"), origin: request.header("Origin"), host: request.header("Host"),
            allowsUnknown: allowsUnknown)
    }

    /// As the other one, from the headers' values.
    package func isSameOrigin(site: String?, origin: String?, host: String?, allowsUnknown: Bool) -> Bool {
        if let site { return site == "same-origin" }
        guard let origin else { return allowsUnknown }
        guard let host, let scheme = ["http://", "https://"].first(where: { origin.hasPrefix($0) }) else {
            return false
        }
        return origin.dropFirst(scheme.count).lowercased() == host.lowercased()
    }

    /// A host without its port: `[::1]:80` and `localhost:80` are `[::1]` and `localhost`.
    package static func name(of host: String) -> String {
        if host.hasPrefix("["), let end = host.firstIndex(of: "]") { return host[...end].lowercased() }
        return String(host.prefix { $0 != ":" }).lowercased()
    }
}

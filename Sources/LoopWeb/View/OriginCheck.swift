internal import HTTPServer

/// Whether a request was made by a page of this server, or by another site's page in the same browser.
///
/// Browsers say in `Sec-Fetch-Site` or `Origin` whose page makes a request, and a page cannot change that. The name in
/// `Host` is checked too: else another site's name could be led to this address ("DNS rebinding"), and its pages would be
/// of the same origin.
struct OriginCheck: Sendable {
    /// Names that the server answers to, in lower case, without ports; nil: any.
    let hosts: Set<String>?

    init(hosts: [String]?) { self.hosts = hosts.map { Set($0.map { $0.lowercased() }) } }

    /// Whether the request is meant for this server.
    func isOurs(host: String?) -> Bool {
        guard let host else { return false }
        guard let hosts else { return true }
        return hosts.contains(Self.name(of: host))
    }

    /// Whether a page of this server makes the request.
    /// - Parameter allowsUnknown: what holds for a browser that says nothing about it.
    func isSameOrigin(_ request: borrowing HTTPRequest, allowsUnknown: Bool = false) -> Bool {
        isSameOrigin(
            site: request.header("Sec-Fetch-Site"), origin: request.header("Origin"), host: request.header("Host"),
            allowsUnknown: allowsUnknown)
    }

    func isSameOrigin(site: String?, origin: String?, host: String?, allowsUnknown: Bool) -> Bool {
        if let site { return site == "same-origin" }
        guard let origin else { return allowsUnknown }
        guard let host, let scheme = ["http://", "https://"].first(where: { origin.hasPrefix($0) }) else {
            return false
        }
        return origin.dropFirst(scheme.count).lowercased() == host.lowercased()
    }

    /// A host without its port: `[::1]:80` and `localhost:80` are `[::1]` and `localhost`.
    static func name(of host: String) -> String {
        if host.hasPrefix("["), let end = host.firstIndex(of: "]") { return host[...end].lowercased() }
        return String(host.prefix { $0 != ":" }).lowercased()
    }
}

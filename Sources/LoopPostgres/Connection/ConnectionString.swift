// Unsafe: libpq reads the texts during the call. Its list of options is copied at once and freed once.

internal import CPQ
internal import Linux
internal import LoopCore

/// The address of a database and the options of a connection: a URL such as `postgres://user@host:5432/database`, as libpq reads
/// it.
///
/// Missing options come from libpq's environment variables, such as `PGPASSWORD`, and from `~/.pgpass`.
@safe public struct ConnectionString: Equatable, Sendable, CustomStringConvertible {
    /// The options in the text, by libpq's names. A password is among them.
    let options: [String: String]
    /// The URL without its password, for people: `postgres://user@host/database`.
    public let description: String

    /// Whether a text looks like the URL of a database.
    package static func isURL(_ text: String) -> Bool {
        text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
    }

    /// Reads a URL.
    /// - Throws: ``PostgresError`` of kind `.misuse` if the text is not a URL, with libpq's reason. The error does not repeat the
    ///   text, because it may have a password.
    package init(_ text: String) throws(PostgresError) {
        guard Self.isURL(text), !text.utf8.contains(0) else {
            throw PostgresError(
                .misuse, "read the database's URL", text: "it does not begin with postgres:// or postgresql://")
        }
        if Self.hasStrayMark(text) { throw Self.unescaped }
        var message: UnsafeMutablePointer<CChar>?
        guard let list = unsafe PQconninfoParse(text, &message) else {
            // libpq's message repeats the text between quotes. Only the reason before it is kept.
            let reason = unsafe message.map { unsafe String(cString: $0) } ?? "libpq cannot read it"
            unsafe PQfreemem(message)
            throw PostgresError(
                .misuse, "read the database's URL", text: String(reason.prefix { $0 != "\"" && $0 != ":" }))
        }
        defer { unsafe PQconninfoFree(list) }
        var found: [String: String] = [:]
        var option = unsafe list
        while let name = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val { unsafe found[String(cString: name)] = String(cString: value) }
            unsafe option += 1
        }
        guard Self.list(found["port"]).allSatisfy({ $0.isEmpty || (UInt16($0) ?? 0) > 0 }) else { throw Self.unescaped }
        options = found
        description = Self.shown(found)
    }

    /// The number of its hosts.
    package var hostCount: Int { attempts.count }

    /// Whether a `#` or a second `@` shows that libpq would misread a part of the password, and show it.
    private static func hasStrayMark(_ text: String) -> Bool {
        let rest = text.drop { $0 != "/" }.dropFirst(2)
        let place = rest.prefix { $0 != "/" }.firstIndex(of: "@").map { rest[$0...].dropFirst() } ?? rest
        return text.contains("#") || place.prefix { $0 != "?" }.contains("@")
    }

    /// The error does not name the port, because that may be a part of a password.
    private static let unescaped = PostgresError(
        .misuse, "read the database's URL",
        text:
            "its port is no number from 1 to 65535, or its user, password or database has a special character; there a /, a #"
            + " and an @ are written %2F, %23 and %40")

    /// This connection string with only one of its hosts, and without `target_session_attrs`, which chooses among several.
    /// - Parameter index: the number of the host, from 0, as in ``PostgresConnection/host``.
    package func only(_ index: Int) -> ConnectionString {
        var attempt = attempts[index]
        attempt["target_session_attrs"] = nil
        return ConnectionString(attempt)
    }

    /// The name of its first host, as in ``PostgresConnection/hostName``.
    package var hostName: String { Self.hostName(of: attempts[0]) }

    private init(_ options: [String: String]) {
        self.options = options
        description = Self.shown(options)
    }

    /// The hosts, each with the options to try it alone. Several are tried one after the other, so that each has a deadline.
    var attempts: [[String: String]] {
        let hosts = Self.list(options["host"])
        let addresses = Self.list(options["hostaddr"])
        let ports = Self.list(options["port"])
        let count = max(hosts.count, addresses.count)
        guard count > 1 else { return [options] }
        return (0..<count).map { index in
            var attempt = options
            if !hosts.isEmpty { attempt["host"] = index < hosts.count ? hosts[index] : "" }
            if !addresses.isEmpty { attempt["hostaddr"] = index < addresses.count ? addresses[index] : "" }
            if !ports.isEmpty { attempt["port"] = index < ports.count ? ports[index] : ports[0] }
            return attempt
        }
    }

    /// The name of one of the hosts, for people: `db:5433`, `db`, or the folder of a socket.
    static func hostName(of attempt: [String: String]) -> String {
        let host = attempt["host"] ?? attempt["hostaddr"] ?? "localhost"
        let port = attempt["port"] ?? ""
        return (host.contains(":") ? "[\(host)]" : host) + (port.isEmpty ? "" : ":\(port)")
    }

    private static func list(_ text: String?) -> [String] {
        text?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
    }

    private static func shown(_ options: [String: String]) -> String {
        let hosts = list(options["host"] ?? options["hostaddr"])
        let ports = list(options["port"])
        func escaped(_ text: String) -> String { PercentEncoding.encode(text.utf8) }
        let places = hosts.enumerated().map { index, host in
            let port = index < ports.count ? ports[index] : ports.first ?? ""
            // The folder of a socket has slashes, and an IPv6 address has colons.
            return (host.contains(":") ? "[\(host)]" : escaped(host)) + (port.isEmpty ? "" : ":\(port)")
        }
        let user = options["user"].map { escaped($0) + "@" } ?? ""
        return "postgres://\(user)\(places.joined(separator: ","))/\(options["dbname"].map(escaped) ?? "")"
    }
}

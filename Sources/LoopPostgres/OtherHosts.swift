extension PostgresConnection {
    /// How long connecting to a host may take, and how long its answer to a query.
    private static let lookLimit = Duration.seconds(1)

    /// Runs a query at one host over a new connection. Blocks for two seconds at most.
    static func look(
        at url: ConnectionString, _ sql: String, _ operation: String, _ parameters: [Parameter] = []
    ) throws(PostgresError) -> QueryResult {
        var connection = try PostgresConnection(
            url, defaults: ["connect_timeout": "1"], settings: ["application_name": "loop/look"], within: lookLimit)
        return try connection.run(sql, parameters, operation, within: lookLimit)
    }
}

/// The result of asking the other hosts of a URL for something that one of them lacks.
struct OtherHosts {
    /// The hosts that have it.
    private var better: [String] = []
    /// The hosts that cannot be asked, each with the reason.
    private var silent: [String] = []
    /// Whether one of them did not answer in time, so that it is worth asking again.
    private(set) var isLate = false

    /// Asks each of them.
    /// - Parameters:
    ///   - own: the host that is not asked.
    ///   - sql: a query. The first column of its first row is true at a host that has it.
    init(of url: ConnectionString, than own: Int, have sql: String, _ parameters: [Parameter] = []) {
        for host in (0..<url.hostCount).filter({ $0 != own }).map(url.only) {
            do throws(PostgresError) {
                let found = try PostgresConnection.look(at: host, sql, "look at the other hosts", parameters)
                if found.integer(0, 0) == 1 { better.append(host.hostName) }
            } catch {
                // A host without the database or the tables has nothing.
                if ["3D000", "42P01"].contains(error.code) { continue }
                if error.isLate { isLate = true }
                silent.append("\(host.hostName) (\(error.reason))")
            }
        }
    }

    /// Whether one of them has it.
    var haveIt: Bool { !better.isEmpty }
    /// Whether all of them lack it.
    var lackIt: Bool { better.isEmpty && silent.isEmpty }

    /// A text about the hosts that have it, or else about those that cannot be asked.
    var text: String {
        haveIt
            ? "\(better.joined(separator: ", ")) has it" : "\(silent.joined(separator: ", ")) cannot be asked"
    }

    /// The remedy for a person.
    /// - Parameter host: the name of the host that lacks it.
    func remedy(for host: String) -> String {
        haveIt
            ? "take \(host) out of the URL, or let it follow the primary"
            : "start the host that cannot be asked, or take it out of the URL if it is lost"
    }
}

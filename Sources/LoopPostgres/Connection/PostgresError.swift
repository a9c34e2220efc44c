/// An error of the database, of the connection to it, or of a statement.
package struct PostgresError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of errors that callers distinguish.
    package enum Kind: Equatable, Sendable {
        /// The connection was lost, or could not be made. It is unknown whether the last statement took effect.
        case lost
        /// The deadline of a call has passed, and the connection was dropped. It is unknown whether the statement took effect.
        case late
        /// The server refused the statement, which took no effect. The code says why.
        case refused
        /// The server did what the statement asked for, and warned that the effect may not last.
        case warned
        /// The server has committed, and does not wait any longer until its synchronous standbys confirm that.
        case unconfirmed
        /// The caller made a mistake, such as an invalid connection string or a parameter that is too large.
        case misuse
    }

    /// The kind of the error.
    package let kind: Kind
    /// The operation, as text that follows "could not": `connect to db:5432`.
    package let operation: String
    /// The five characters of SQLSTATE, or an empty text if the server sent none.
    package let code: String
    /// The message of the server or of libpq, in one line.
    package let text: String
    /// The host of the error, as in ``PostgresConnection/hostName``, or an empty text if it is not about one host.
    package let host: String
    /// The hosts, from 0, that could be connected to, but not be written.
    package let readOnlyHosts: [Int]

    /// Creates an error from its parts. Line breaks in the text become spaces.
    package init(
        _ kind: Kind, _ operation: String, code: String = "", text: String, host: String = "",
        readOnlyHosts: [Int] = []
    ) {
        self.kind = kind
        self.operation = operation
        self.code = code
        self.host = host
        self.readOnlyHosts = readOnlyHosts
        self.text = text.split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " || $0 == "\t" } }
            .joined(separator: "; ")
    }

    /// One line: the operation, the text and the code.
    package var description: String { "could not \(operation): \(reason)" }

    /// The line without the operation.
    package var reason: String { code.isEmpty ? text : "\(text) (SQLSTATE \(code))" }
}

/// The codes that this project distinguishes. (PostgreSQL, appendix A)
extension PostgresError {
    /// A lock was not free within `lock_timeout`.
    package var isLockTimeout: Bool { code == "55P03" }

    /// A host did not answer within the limit of the call. It may answer later.
    package var isLate: Bool { kind == .late || text.contains(PostgresConnection.noAnswer) }
}

/// The reason why one host could not be connected to.
struct HostFailure {
    let host: String
    /// The five characters of SQLSTATE, or an empty text if the host sent none.
    let code: String
    let text: String

    /// Reads a message of libpq with a code in it, as `PQERRORS_VERBOSE` gives it: `FATAL:  28P01: password …`.
    init(host: String, message: String) {
        self.host = host
        var code = ""
        var lines: [String] = []
        for line in message.split(whereSeparator: \.isNewline) where !line.contains("LOCATION:  ") {
            if code.isEmpty, let found = line.firstMatch(of: #/:  ([0-9A-Z]{5}): /#) {
                code = String(found.1)
                lines.append(String(line[..<found.range.lowerBound] + ":  " + line[found.range.upperBound...]))
            } else {
                lines.append(String(line))
            }
        }
        self.code = code
        text = lines.joined(separator: "\n")
    }

    /// Whether libpq refuses the value of an option, before it connects: `invalid sslmode value: "x"`. What the server says begins with
    /// `connection to server`.
    var isMistake: Bool { text.hasPrefix("invalid ") }

    /// Whether the host has answered that it cannot be written to.
    var isReadOnly: Bool { text.contains("session is read-only") || text.contains("hot standby") }

    /// The failure that best explains why none of several hosts can be used.
    static func mainOne(of failures: [HostFailure]) -> HostFailure? {
        failures.first { !$0.code.isEmpty } ?? failures.first { $0.isReadOnly } ?? failures.first
    }
}

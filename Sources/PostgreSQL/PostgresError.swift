/// A failure of the database, of the way to it, or of a statement.
public struct PostgresError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of failures that callers distinguish.
    public enum Kind: Equatable, Sendable {
        /// There is no connection any more, or none could be made. Whether the last statement took effect is unknown.
        case lost
        /// The deadline of a call has passed, and the connection was dropped. Whether the statement took effect is unknown.
        case late
        /// The server refused: the statement took no effect. The code says why.
        case refused
        /// The server did what it was asked, and warned that this may not last.
        case warned
        /// The caller made a mistake: a text that is no connection string, a parameter that is too large.
        case misuse
    }

    /// The kind of the failure.
    public let kind: Kind
    /// The operation, to follow "could not": `connect to db:5432`.
    public let operation: String
    /// The five characters of SQLSTATE; empty where the server sent none.
    public let code: String
    /// The message of the server or of libpq, in one line.
    public let text: String
    /// The host of the error, in the form of ``PostgresConnection/hostName``, or an empty text if it is not one host.
    public let host: String

    /// Creates an error from its parts. Line breaks in the text become spaces.
    public init(_ kind: Kind, _ operation: String, code: String = "", text: String, host: String = "") {
        self.kind = kind
        self.operation = operation
        self.code = code
        self.host = host
        self.text = text.split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " || $0 == "\t" } }
            .joined(separator: "; ")
    }

    /// One line: the operation, the text and the code.
    public var description: String { "could not \(operation): \(reason)" }

    /// The line without the operation.
    public var reason: String { code.isEmpty ? text : "\(text) (SQLSTATE \(code))" }
}

/// The codes that this project tells apart. (PostgreSQL, appendix A)
extension PostgresError {
    /// A lock was not free within `lock_timeout`.
    public var isLockTimeout: Bool { code == "55P03" }
}

/// Why one host could not be connected to.
struct HostFailure {
    let host: String
    /// The five characters of SQLSTATE, or an empty text if the host has sent none.
    let code: String
    let text: String

    /// Parses a message of libpq with `PQERRORS_VERBOSE`, which contains the SQLSTATE: `FATAL:  28P01: password …`.
    init(host: String, message: String) {
        self.host = host
        var code = ""
        var lines: [String] = []
        for line in message.split(whereSeparator: \.isNewline) where !line.contains("LOCATION:  ") {
            if code.isEmpty, let found = line.firstMatch(of: #/:  ([0-9A-Z]{5}): /#) {
                code = String(found.1)
                lines.append(line.replacingCharacters(in: found.range, with: ":  "))
            } else {
                lines.append(String(line))
            }
        }
        self.code = code
        text = lines.joined(separator: "\n")
    }

    /// Whether a server has answered, but cannot be written.
    private var isReplica: Bool { text.contains("session is read-only") || text.contains("hot standby") }

    /// The most telling of the failures of several hosts.
    static func mainOne(of failures: [HostFailure]) -> HostFailure? {
        failures.first { !$0.code.isEmpty } ?? failures.first { $0.isReplica } ?? failures.first
    }
}

extension Substring {
    fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
        String(self[..<range.lowerBound]) + text + String(self[range.upperBound...])
    }
}

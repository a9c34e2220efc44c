/// The options of a program that says over HTTP how it is.
enum HealthOptions {
    fileprivate static let http = Option(
        optional: "http", .string.named("HOST:PORT"),
        help: "answer /livez, /readyz, /leader, /standby, /status.json and /metrics here, such as 127.0.0.1:9710")
    fileprivate static let token = Option(
        optional: "http-token", .path(),
        help:
            "a file whose first line every request must bring as its bearer token; needed if others can reach the address"
    )

    static let all: [any DeclaredOption] = [http, token]
}

extension ParsedArguments {
    /// Where the program says how it is, or nil for nowhere.
    var health: HealthEndpoint? {
        get throws(NodeError) {
            guard let text = self[HealthOptions.http] else {
                guard self[HealthOptions.token] == nil else {
                    throw .configuration("--http-token is of no use without --http, which says where to answer")
                }
                return nil
            }
            return try HealthEndpoint(text, tokenFile: self[HealthOptions.token])
        }
    }
}

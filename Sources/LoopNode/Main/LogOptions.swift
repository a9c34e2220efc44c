/// The options that say how a program writes its log.
package enum LogOptions {
    /// The form of the log on standard error.
    package enum Form: String, CaseIterable, Sendable {
        /// Lines for people.
        case text
        /// JSON objects, one a line.
        case json
    }

    static let form = Option(
        "log", .choice, default: Form.text,
        help: "how the log is written to standard error: lines for people, or a JSON object on each line")
    static let level = Option(
        "log-level", .choice, default: LogLevel.info,
        help: "leave out of the log what matters less than this")

    /// All options. They are in the help of every program of a node.
    static let all: [any DeclaredOption] = [form, level]
}

extension ParsedArguments {
    /// The log that the command line or the environment describes.
    var log: LogHandler {
        switch self[LogOptions.form] {
        case .text: .text(level: self[LogOptions.level])
        case .json: .json(level: self[LogOptions.level])
        }
    }
}

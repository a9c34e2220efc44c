import Linux
import LoopKeys
import LoopNode
import ZMQ

/// `loopctl keygen` makes a key pair for a peer or a reducer, in the reducer's folder of keys.
enum KeygenCommand {
    static let folder = Option(
        positional: "DIR", .path(), help: "the reducer's folder of keys, made if it is missing")
    static let name = Option(positional: "NAME", .keyName, help: "whose the key is, and what its files are called")
    static let roles = Option(
        repeated: "role", ValueType<Role>.choice, help: "what its owner may do",
        environment: .none)
    static let groups = Option(
        repeated: "group", .string.named("GROUP"),
        help: "a group whose effects a worker may run; without it all", environment: .none)
    static let own = Option(
        optional: "to", .path("DIR"),
        help: "a folder for NAME.key_secret, with a copy of the reducer's server.key: all that a peer needs",
        environment: .none)
    static let keep = Option(
        flag: "keep", help: "make only what is missing, and leave a key that is there", environment: .none)
    static let replace = Option(
        flag: "replace", help: "make new keys in the place of those that are there", environment: .none)

    static let subcommand = Subcommand(
        command: Command(
            "keygen", abstract: "Make a key pair, for a peer or a reducer.",
            discussion: """
                Writes two files in ZeroMQ's certificate format. A peer's are DIR/NAME.key_secret, for the peer alone, and \
                DIR/allowed/NAME.key, by which the reducer of that folder admits it. A reducer's are \
                DIR/server.key_secret, which stays there, and DIR/server.key, for every peer. A reducer's second pair is \
                called server-2.

                With --keep the same command can run at every start. It makes the keys once, and repairs what was cut off \
                halfway.

                Whoever can read a secret file has the key. It has mode 600, and is refused where others can read it.

                Exit codes: 0 written, 2 could not be written, 64 wrong usage.
                """,
            groups: [OptionGroup("Key", [roles, groups, own, keep, replace])], positionals: [folder, name]),
        run: run)

    @Sendable private static func run(_ arguments: ParsedArguments, environment: [String: String]) async throws -> Int32
    {
        let issued = try KeyFolder(arguments[folder]).issue(
            try newKey(arguments), created: SystemClock.wall.text, present: try present(arguments), generate: generate)
        for line in KeygenReport(issued).lines { try StandardOutput.line(line) }
        return 0
    }

    /// - Throws: `UsageError` if name, roles and groups contradict each other.
    static func newKey(_ arguments: ParsedArguments) throws -> NewKey {
        guard !arguments[roles].isEmpty else {
            throw UsageError(message: "--role is missing", hint: "give --role \(roles.declaration.placeholder)")
        }
        do throws(NewKey.Refusal) {
            return try NewKey(
                name: arguments[name], roles: Set(arguments[roles]), groups: arguments[groups], folder: arguments[own])
        } catch {
            throw UsageError(message: error.description)
        }
    }

    /// - Throws: `UsageError` if both options are given.
    static func present(_ arguments: ParsedArguments) throws(UsageError) -> KeyFolder.PresentPair {
        switch (arguments[keep], arguments[replace]) {
        case (false, false): .refuse
        case (true, false): .keep
        case (false, true): .replace
        case (true, true): throw UsageError(message: "--keep and --replace are opposites", hint: "give one of them")
        }
    }

    static func generate() throws -> KeyPair {
        do throws(ZMQError) {
            return try KeyPair()
        } catch {
            throw CommandError("\(error)")
        }
    }
}

/// The output of `keygen`: each file, and its destination.
struct KeygenReport {
    private let issued: IssuedKey

    init(_ issued: IssuedKey) { self.issued = issued }

    var lines: [String] {
        let (name, secret, other) = (issued.key.name, issued.secretPath, issued.publicPath)
        if issued.key.isReducers {
            if issued.isKept { return ["\(secret) is the reducer's, and stays as it is"] }
            return [
                "\(secret) is the reducer's: keep it there, readable by its user only",
                "\(other) is for the peers: copy it to each of them, which knows the reducer by it",
            ]
        }
        if issued.isKept { return ["\(other) stays as it is: it admits \(name) as \(roles)"] }
        return [
            "\(secret) is for \(name): move it to where \(name) runs, and show it to no one else",
            "\(other) is for the reducer, in allowed/ of its folder: it admits \(name) as \(roles)",
            "\(issued.reducersPath ?? "the reducer's server.key") is for \(name) too, which knows the reducer by it",
        ]
    }

    /// The roles as text, such as `worker of images and video, sender`.
    private var roles: String {
        Role.allCases.filter(issued.certificate.roles.contains).map { role in
            guard role == .worker else { return role.rawValue }
            return switch issued.certificate.groups {
            case .all: "worker of all groups"
            case .named(let names): "worker of \(names.sorted().joined(separator: " and "))"
            }
        }.joined(separator: ", ")
    }
}

extension ValueType where Value == KeyName {
    static var keyName: ValueType {
        ValueType(placeholder: "NAME", expected: KeyName.form, read: { KeyName($0) }, write: { $0.text })
    }
}

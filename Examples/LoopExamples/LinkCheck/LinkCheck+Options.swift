internal import LoopFetch
package import LoopNode

extension LinkCheck {
    /// The only argument: the start of the check.
    package static let site = Option(
        positional: "SITE", .site, help: "the http or https URL to begin at; its folder is checked")

    static let external = Option(flag: "external", help: "check links that leave the site too")
    static let relative = Option(flag: "relative", help: "report URLs of the site from its root on: /book/a.html")
    static let ignore = Option(
        repeated: "ignore", .string.named("PATTERN"),
        help: "leave out URLs that begin with this, or match it where it has a *; as reported or absolute")
    static let maxPages = Option(
        optional: "max-pages", .int(in: 1...10_000_000), help: "read no more pages than this")
    static let timeout = Option(
        "timeout", .duration(in: .milliseconds(100) ... .seconds(3600)), default: .seconds(30),
        help: "how long an answer may take")
    static let retries = Option(
        "retries", .int(in: 0...LinkCheck.retriesMax), default: 3,
        help: "how often a URL is tried again after 408, 429, 5xx or a connection error")
    static let bodyLimit = Option(
        "body-limit", .size(in: 1024...(1 << 30)), default: 10 << 20, help: "how much of a page is read")
    static let hostConcurrency = Option(
        optional: "host-concurrency", .int(in: 1...4096),
        help: "requests at a time to one host (default: 8, or 64 for a site on this machine without --external)")
    static let hostRate = Option(
        optional: "host-rate", .number(in: 0.01...100_000), help: "requests a second to one host (default: no limit)")
    static let userAgent = Option(
        "user-agent", .string, default: FetchLimits().userAgent, help: "what to tell servers who asks")

    /// The options of a check, as `--help` shows them.
    package static let options = [
        OptionGroup("What is checked", [external, ignore, maxPages, relative]),
        OptionGroup(
            "How it is fetched", [timeout, retries, bodyLimit, hostConcurrency, hostRate, userAgent]),
    ]

    /// The whole command line of a check.
    package static let command = Command(
        name, abstract: abstract,
        discussion: "Exits with 0 when nothing is broken, with 1 when something is.",
        groups: options, positionals: [site])

    static let abstract = "Check the links, images and fragments of a web site or of documentation."

    /// Creates a definition for a reducer.
    /// - Throws: an error for a wrong argument.
    package init(arguments: [String], environment: [String: String] = [:]) throws(UsageError) {
        switch try Self.command.parse(arguments, environment: environment) {
        case .arguments(let arguments): self.init(arguments)
        case .text: throw UsageError(message: "--help is no argument of a check", hint: "see loop-reducer --help")
        }
    }

    /// Creates a definition for a reducer from arguments that were parsed with ``site`` and ``options``.
    package init(_ arguments: ParsedArguments) {
        var settings = CheckSettings()
        let url = arguments[Self.site]
        settings.site = url
        settings.checksExternal = arguments[Self.external]
        settings.isRelative = arguments[Self.relative]
        settings.ignored = arguments[Self.ignore]
        settings.pagesMax = arguments[Self.maxPages]
        settings.limits.timeoutMilliseconds = Int(arguments[Self.timeout] / .milliseconds(1))
        settings.limits.retries = arguments[Self.retries]
        settings.limits.bodyBytesMax = arguments[Self.bodyLimit]
        settings.limits.userAgent = arguments[Self.userAgent]
        let isAtHome = (try? WebURL(url))?.isLoopback == true && !settings.checksExternal
        self.init(
            settings: settings, hostConcurrency: arguments[Self.hostConcurrency] ?? (isAtHome ? 64 : 8),
            hostRate: arguments[Self.hostRate])
    }
}

extension ValueType where Value == String {
    /// An `http` or `https` URL, normalised and without a fragment.
    static var site: ValueType {
        ValueType(
            placeholder: "URL", expected: "an http or https URL; for a folder: loopctl up linkcheck --serve FOLDER",
            parse: { text throws(Misfit) in
                guard let url = try? WebURL(text).string else { throw Misfit() }
                // Requests, and thus the site, are in the journal and in the report.
                if url.split(separator: "/", maxSplits: 2)[1].contains("@") {
                    throw Misfit(
                        "it has a user name or a password, which would be in the journal and in every report; what needs one"
                            + " cannot be checked")
                }
                return url
            }, write: { $0 })
    }
}

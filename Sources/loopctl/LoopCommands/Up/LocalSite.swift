import LoopCore

/// The site on disk that a link check's arguments name, if they name one.
struct LocalSite: Equatable {
    enum FileKind { case nothing, file, folder }

    /// Its index among the arguments, or nil if a variable names it.
    let index: Int?
    /// The folder that is served.
    let folder: String
    /// The path at which the check begins, percent-encoded and without its leading slash. It is empty for the folder itself.
    let start: String

    /// Finds the last word that is a URL or exists on disk, because a site follows its options. A word directly after an option may
    /// be that option's value, so it counts only if there is no other.
    init?(in arguments: [String], environment: [String: String], kindOf: (String) -> FileKind) {
        func names(_ word: String) -> Bool {
            Self.isURL(word) || kindOf(word) == .folder || (kindOf(word) == .file && Self.isPage(word))
        }
        let (words, free) = Self.words(in: arguments)
        let found = free.last { names(arguments[$0]) } ?? words.last { names(arguments[$0]) }
        let fromVariable = words.isEmpty ? environment["LOOP_SITE"].flatMap { names($0) ? $0 : nil } : nil
        guard let site = found.map({ arguments[$0] }) ?? fromVariable, !Self.isURL(site) else { return nil }
        index = found
        if kindOf(site) == .folder {
            folder = site
            start = ""
        } else {
            let slash = site.lastIndex(of: "/")
            let parent = slash.map { String(site[..<$0]) } ?? "."
            folder = parent.isEmpty ? "/" : parent
            start = PercentEncoding.encode((slash.map { site[site.index(after: $0)...] } ?? site[...]).utf8)
        }
    }

    /// The arguments with the URL in place of the site. Reports then show URLs relative to it.
    func arguments(_ arguments: [String], url: String) -> [String] {
        var rewritten = arguments
        if let index { rewritten[index] = url } else { rewritten.append(url) }
        let options = rewritten.prefix { $0 != "--" }
        return options.contains("--relative") ? rewritten : ["--relative"] + rewritten
    }

    /// If no word is a site, the last word that is no option's value. It was meant as a site, but is no URL and does not exist.
    static func misnamed(in arguments: [String], kindOf: (String) -> FileKind) -> String? {
        let (words, free) = words(in: arguments)
        let hasSite = words.contains { isURL(arguments[$0]) || kindOf(arguments[$0]) != .nothing }
        return hasSite ? nil : free.last.map { arguments[$0] }
    }

    /// The indices of words that are not options, and of those among them that cannot be the value of one.
    private static func words(in arguments: [String]) -> (all: [Int], free: [Int]) {
        let dashes = arguments.firstIndex(of: "--") ?? arguments.endIndex
        let all = arguments.indices.filter { $0 > dashes || ($0 < dashes && !arguments[$0].hasPrefix("-")) }
        let free = all.filter { index in
            guard index > 0, index < dashes else { return true }
            let before = arguments[index - 1]
            return !before.hasPrefix("--") || before.contains("=")
        }
        return (all, free)
    }

    private static func isURL(_ word: String) -> Bool {
        ["http://", "https://"].contains { word.lowercased().hasPrefix($0) }
    }

    private static func isPage(_ name: String) -> Bool {
        [".html", ".htm", ".xhtml", ".md", ".markdown"].contains { name.lowercased().hasSuffix($0) }
    }
}

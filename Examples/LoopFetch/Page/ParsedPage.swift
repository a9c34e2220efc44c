/// What a page says about links: where it leads, and where in it others can lead.
public struct ParsedPage: Sendable, Equatable {
    /// One place that a page leads to.
    public struct Link: Sendable, Hashable {
        /// The absolute URL in its normal form, without a fragment.
        public let target: String

        /// The name of a place in the target, without percent-encoding; nil where none is named, and for the names that
        /// every page has: `#` and `#top`.
        public let fragment: String?

        /// A link to `target`, and to the place `fragment` in it.
        public init(target: String, fragment: String?) {
            self.target = target
            self.fragment = fragment
        }
    }

    /// A link that leads nowhere, since it is no URL.
    public struct MalformedLink: Sendable, Hashable {
        /// The link as it was written.
        public let reference: String

        /// What is wrong with it.
        public let reason: String
    }

    /// The title, or the first heading of a Markdown page; without markup, and with single spaces. Empty: it has none.
    public var title = ""

    /// What relative links are relative to: `<base href>`, else the URL of the page.
    public var baseURL: String

    /// The distinct links in the order in which they first appear.
    public var links: [Link] = []

    /// The distinct links that are malformed, in the order in which they first appear.
    public var malformedLinks: [MalformedLink] = []

    /// The places in the page that a fragment can name: ids, names of `<a>`, and headings of Markdown.
    public var anchors: Set<String> = []

    /// How many distinct links have a scheme that is not fetched, such as `mailto:` or `javascript:`.
    public var otherSchemesCount = 0

    /// Whether reading was given up before the end: the markup is nested too deeply, or a tag has too many attributes, for a
    /// page that people read. What was found up to there counts.
    public var isCut = false

    /// Whether `fragment` (without percent-encoding) names a place in this page. Every page has an empty name and `top`.
    public func hasAnchor(_ fragment: String) -> Bool {
        Self.isOnEveryPage(fragment) || anchors.contains(fragment)
    }

    static func isOnEveryPage(_ fragment: String) -> Bool {
        fragment.isEmpty || fragment.utf8.count == 3 && fragment.lowercased() == "top"
    }
}

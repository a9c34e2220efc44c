/// What a page says about links: where it leads, and where in it others can lead.
public struct ParsedPage: Sendable, Equatable {
    /// One place that a page leads to.
    public struct Link: Sendable, Hashable {
        /// The absolute URL in its normal form, without a fragment.
        public let target: String

        /// The name of an anchor in the target, without percent-encoding. It is nil without a name, and for the names
        /// that every page has: `#` and `#top`.
        public let fragment: String?

        /// A link to `target`, and to the place `fragment` in it.
        public init(target: String, fragment: String?) {
            self.target = target
            self.fragment = fragment
        }
    }

    /// The distinct links in the order in which they first appear.
    public var links: [Link] = []

    /// The distinct links that are not URLs, as the page has them, in the order of their first appearance.
    public var malformedLinks: [String] = []

    /// The places in the page that a fragment can name: ids, names of `<a>`, and headings of Markdown.
    public var anchors: Set<String> = []

    /// Why the text could not be read, so that links and anchors may be missing. It is nil if the page was read.
    public var unread: String?

    static func isOnEveryPage(_ fragment: String) -> Bool {
        fragment.isEmpty || fragment.utf8.count == 3 && fragment.lowercased() == "top"
    }
}

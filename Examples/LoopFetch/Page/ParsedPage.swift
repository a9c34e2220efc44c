/// The links of a page and its anchors.
public struct ParsedPage: Sendable, Equatable {
    /// One link of a page.
    public struct Link: Sendable, Hashable {
        /// The absolute, normalised URL without a fragment. If it has a user name or a password, an `@` remains: `http://@a/`.
        public let target: String

        /// The name of an anchor in the target, without percent-encoding. Nil if none is named, and for `#` and `#top`,
        /// which every page has.
        public let fragment: String?

        /// Creates a link to `target`, and to the anchor `fragment` in it.
        public init(target: String, fragment: String?) {
            self.target = target
            self.fragment = fragment
        }
    }

    /// The distinct links in the order in which they first appear.
    public var links: [Link] = []

    /// The distinct links that are no URLs, as written, in the order in which they first appear.
    public var malformedLinks: [String] = []

    /// The anchors, which fragments can name: ids, names of `<a>`, and headings of Markdown.
    public var anchors: Set<String> = []

    /// Why the text could not be read, so that links and anchors may be missing. Nil if the page was read.
    public var unread: String?

    static func isOnEveryPage(_ fragment: String) -> Bool {
        fragment.isEmpty || fragment.utf8.count == 3 && fragment.lowercased() == "top"
    }
}

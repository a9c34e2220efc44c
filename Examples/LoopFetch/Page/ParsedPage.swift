/// The links of a page and its anchors.
package struct ParsedPage: Sendable, Equatable {
    /// One link of a page.
    package struct Link: Sendable, Hashable {
        /// The absolute, normalised URL without a fragment. If it has a user name or a password, an `@` remains: `http://@a/`.
        package let target: String

        /// The name of an anchor in the target, without percent-encoding. Nil if none is named, and for `#` and `#top`,
        /// which every page has.
        package let fragment: String?

        /// Creates a link to `target`, and to the anchor `fragment` in it.
        package init(target: String, fragment: String?) {
            self.target = target
            self.fragment = fragment
        }
    }

    /// The distinct links in the order in which they first appear.
    package var links: [Link] = []

    /// The distinct links that are no URLs, as written, in the order in which they first appear.
    package var malformedLinks: [String] = []

    /// The anchors, which fragments can name: ids, names of `<a>`, and headings of Markdown.
    package var anchors: Set<String> = []

    /// Why the text could not be read, so that links and anchors may be missing. Nil if the page was read.
    package var unread: String?

    static func isOnEveryPage(_ fragment: String) -> Bool {
        fragment.isEmpty || fragment.utf8.count == 3 && fragment.lowercased() == "top"
    }
}

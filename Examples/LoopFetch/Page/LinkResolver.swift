internal import LoopCore

/// Resolves the references of one page.
struct LinkResolver {
    private let base: WebURL
    private let charset: Charset
    /// The links so far as bytes, because strings are equal if they differ only in their composition of accents.
    private var known: Set<[UInt8]> = []

    /// - Parameters:
    ///   - base: the base of relative references, without a fragment.
    ///   - charset: the encoding of the page, in which queries are sent.
    init(base: WebURL, charset: Charset) {
        self.base = base
        self.charset = charset
    }

    /// Resolves a reference and adds the result to the page.
    mutating func resolve(_ reference: String, into page: inout ParsedPage) {
        do throws(WebURLError) {
            let url = try base.resolve(reference, charset: charset)
            let link = ParsedPage.Link(target: url.stringWithoutUser, fragment: Self.place(url.fragment))
            if known.insert(Array("\(link.target)#\(link.fragment ?? "")".utf8)).inserted { page.links.append(link) }
        } catch .otherScheme {
            // URLs such as mailto: or javascript: are not fetched.
        } catch {
            page.malformedLinks.append(WebURL.withoutUser(reference))
        }
    }

    /// The anchor that a fragment names, without the directive (`:~:text=…`), which is for browsers only.
    private static func place(_ fragment: String?) -> String? {
        guard var fragment, !fragment.isEmpty else { return nil }
        if let directive = fragment.firstRange(of: ":~:") {
            fragment = String(fragment[..<directive.lowerBound])
        }
        let name = PercentEncoding.decode(fragment)
        return ParsedPage.isOnEveryPage(name) ? nil : name
    }
}

extension LinkCheck {
    /// The events of one target.
    package enum Event: Codable, Equatable, Sendable {
        /// A part of a page that is too large for one event. Parts come in order before `fetched`; number 0 starts over.
        case part(target: UInt32, number: Int, content: PageContent)
        /// The target has answered.
        case fetched(target: UInt32, answer: Answer)
        /// The target has no answer, or a bad one after all retries. At least one of `status` and `error` says why.
        case failed(target: UInt32, status: Int?, error: String?)

        /// They are listed for workers in other languages, which see all cases in the schema.
        private enum CodingKeys: CodingKey, CaseIterable { case part, fetched, failed }
    }

    /// A server's answer.
    package struct Answer: Codable, Equatable, Sendable {
        /// The HTTP status.
        package var status: Int
        /// The target of a redirect, as a line of `LinkLines` with at most one fragment.
        package var location: String?
        /// The content of the page, or nil if the answer is no page.
        package var page: PageContent?
        /// Why a page was not read, or not fully, or why the answer is no page. Nil if the page was read.
        package var unread: String?
        /// Whether a redirect sets a cookie.
        package var setsCookie = false
        /// The job's `keepsCookies`.
        package var keptCookies = false

        package init(status: Int, location: String? = nil, page: PageContent? = nil, unread: String? = nil) {
            self.status = status
            self.location = location
            self.page = page
            self.unread = unread
        }
    }

    /// The links and the anchors of a page, or of a part of it, packed.
    package struct PageContent: Codable, Equatable, Sendable {
        /// Links as lines: `/path#fragment#fragment`, or an absolute URL instead of the path.
        package var links: String
        /// Sorted 64-bit FNV-1a hashes of the anchors.
        package var anchors: [UInt64]

        package init(links: String = "", anchors: [UInt64] = []) {
            self.links = links
            self.anchors = anchors
        }
    }
}

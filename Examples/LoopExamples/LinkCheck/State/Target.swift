/// The knowledge about one target.
///
///     unvisited ──▶ queued ──▶ page | file | broken | redirect
///                              unchecked
struct Target: Codable, Equatable, Sendable {
    enum Phase: Codable, Equatable, Sendable {
        /// Only known as the end of a chain of redirects that is too long to be followed.
        case unvisited
        /// It must be fetched.
        case queued
        /// A page with the hashes of its anchors, sorted.
        case page(anchors: [UInt64])
        /// It answers, and its anchors are not known.
        case file
        /// It has no good answer. The error is empty if the status says it.
        case broken(error: String)
        /// It redirects to another target, `toPlace` with a fragment that replaces that of a link.
        case redirect(target: UInt32, toPlace: Bool)
        /// It is out of scope or ignored, and known because something redirects to it.
        case unchecked

        private enum CodingKeys: CodingKey, CaseIterable {
            case unvisited, queued, page, file, broken, redirect, unchecked
        }
    }

    /// A link to this target. The fragment is empty if it has none.
    struct Link: Codable, Equatable, Sendable {
        var page: UInt32
        var fragment: String
    }

    /// As in `LinkLines`.
    var name: String
    var phase: Phase
    /// The least number of redirects between a link and this target.
    var hops: UInt8 = 0
    /// The HTTP status, or 0 if there was no answer.
    var status: UInt16 = 0
    /// The links to it that are still needed.
    var links: [Link] = []

    /// The number of the target to which it redirects, or nil.
    var next: UInt32? {
        if case .redirect(let next, _) = phase { next } else { nil }
    }
}

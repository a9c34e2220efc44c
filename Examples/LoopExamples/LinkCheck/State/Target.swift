/// The knowledge about one target, in eight bytes. Its name and the links to it are stored elsewhere.
///
///     unvisited ──▶ queued ──▶ page | file | broken | redirect
///                              unchecked
struct Target: Sendable, Equatable {
    enum Phase: UInt8, Sendable {
        /// Only known as the end of a chain of redirects that is too long to be followed.
        case unvisited
        /// It must be fetched.
        case queued
        /// A page whose anchors are known; `detail` is their number.
        case page
        /// It answers, and its anchors are not known.
        case file
        /// It has no good answer; `detail` is the number of the error, or 0 for none.
        case broken
        /// It redirects; `detail` is the number of the target of the redirect.
        case redirect
        /// It redirects, with a fragment that replaces that of a link.
        case redirectToPlace
        /// It is out of scope or ignored, and known because something redirects to it.
        case unchecked
    }

    var phase: Phase
    /// The least number of redirects between a link and this target.
    var hops: UInt8 = 0
    /// The HTTP status, or 0 if there was no answer.
    var status: UInt16 = 0
    var detail: UInt32 = 0

    var isRedirect: Bool { phase == .redirect || phase == .redirectToPlace }

    var packed: UInt64 {
        UInt64(phase.rawValue) | UInt64(hops) << 8 | UInt64(status) << 16 | UInt64(detail) << 32
    }

    init(_ phase: Phase, hops: UInt8 = 0, status: UInt16 = 0, detail: UInt32 = 0) {
        self.phase = phase
        self.hops = hops
        self.status = status
        self.detail = detail
    }

    init?(packed: UInt64) {
        guard let phase = Phase(rawValue: UInt8(truncatingIfNeeded: packed)) else { return nil }
        self.phase = phase
        hops = UInt8(truncatingIfNeeded: packed >> 8)
        status = UInt16(truncatingIfNeeded: packed >> 16)
        detail = UInt32(truncatingIfNeeded: packed >> 32)
    }
}

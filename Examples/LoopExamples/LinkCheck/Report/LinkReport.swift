/// The result of a finished check: a pure function of the state, sorted, so that two checks of one site agree.
struct LinkReport: Equatable {
    /// A target that is broken, or an anchor that a target lacks.
    struct Broken: Equatable {
        var url: String
        /// The HTTP status, or nil if there was no answer.
        var status: Int?
        /// The error, if the status does not say it.
        var error: String?
        /// The pages that link to it.
        var referrers: [String]
    }

    struct Redirect: Equatable {
        var url: String
        var status: Int
        /// The target of the redirect, one step further.
        var target: String
        var referrers: [String]
    }

    var pages: Int
    var links: Int
    var broken: [Broken] = []
    var redirects: [Redirect] = []
    var seconds: Double

    init(_ state: LinkCheckState) {
        pages = state.pagesCount
        links = state.linksCount
        seconds = state.seconds
        var reader = LinkReportReader(state)
        for (number, target) in state.targets { reader.read(number, target) }
        broken = reader.broken.sorted { LinkReportReader.isBefore($0.url, $1.url) }
        redirects = reader.redirects.sorted { LinkReportReader.isBefore($0.url, $1.url) }
    }
}

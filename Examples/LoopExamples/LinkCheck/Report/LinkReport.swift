/// What a finished check has found: a pure function of the state, sorted, so that two checks of one site agree.
struct LinkReport: Equatable {
    /// A target that is broken, or a place that is missing in one.
    struct Broken: Equatable {
        var url: String
        /// The HTTP status; nil where there was no answer.
        var status: Int?
        /// What is wrong, where the status does not say it.
        var error: String?
        /// The pages that link to it.
        var referrers: [String]
    }

    struct Redirect: Equatable {
        var url: String
        var status: Int
        /// Where it leads, one step.
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
        for number in 0..<UInt32(state.targets.count) { reader.read(number) }
        broken = reader.broken.sorted { LinkReportReader.isBefore($0.url, $1.url) }
        redirects = reader.redirects.sorted { LinkReportReader.isBefore($0.url, $1.url) }
    }
}

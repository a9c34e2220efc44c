package import LoopCore

/// Checks the links of a web site or of a folder's documentation. The state is the knowledge of every page and link, and
/// the requests are the targets that must still be fetched.
///
/// ```swift
/// let loop = Loop(try LinkCheck(arguments: ["http://127.0.0.1:8000/"]))
/// ```
///
/// The report is independent of the order of the answers, of the number of workers, and of repeated effects. The rules are
/// in docs/linkcheck.md.
package struct LinkCheck: LoopDefinition {
    package typealias State = LinkCheckState

    package static let name = "linkcheck"
    /// Since schema 4 a state has dictionaries of its targets, and an event has numbers as the hashes of anchors.
    package static let schema = 4

    package static let examples: [Event] = {
        let page = PageContent(links: "/a.html\n/b.html#part\n")
        return [
            .part(target: 0, number: 0, content: page), .fetched(target: 0, answer: Answer(status: 200, page: page)),
            .fetched(target: 1, answer: Answer(status: 301, location: "/b.html")),
            .fetched(target: 2, answer: Answer(status: 200, unread: "no page: image/png")),
            .failed(target: 3, status: nil, error: "connection refused"),
        ]
    }()

    /// The options of the check; empty in a worker, whose jobs have everything that it needs.
    package let settings: CheckSettings
    /// How many requests to one host run at a time, or nil for no limit.
    package let hostConcurrency: Int?
    /// How many requests a second go to one host, or nil for no limit.
    package let hostRate: Double?

    /// Creates a definition for a worker.
    package init() { self.init(settings: CheckSettings()) }

    /// Creates a definition with these settings, whose site is a normalised URL.
    package init(settings: CheckSettings, hostConcurrency: Int? = nil, hostRate: Double? = nil) {
        self.settings = settings
        self.hostConcurrency = hostConcurrency
        self.hostRate = hostRate
    }

    package var initial: LinkCheckState { LinkCheckState(settings) }

    package func reduce(into state: inout LinkCheckState, _ event: Event, _ transition: Transition) {
        state.apply(event, at: transition.time.milliseconds)
    }

    package func outcome(of state: LinkCheckState) -> Outcome? {
        guard state.isFinished else { return nil }
        let report = LinkReport(state)
        return Outcome(text: report.text, json: report.json, exitCode: report.broken.isEmpty ? 0 : 1)
    }

    package func progress(of state: LinkCheckState) -> Progress? {
        let broken = state.brokenLinksCount == 0 ? nil : "\(state.brokenLinksCount) links broken"
        let notes = ["\(state.pagesCount) pages", "\(state.linksCount) links", broken].compactMap { $0 }
        return Progress(
            done: state.doneCount, found: state.foundCount, unit: "URLs", note: notes.joined(separator: ", "))
    }
}

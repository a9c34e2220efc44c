import LoopCore

@testable import LoopExamples
@testable import LoopFetch

/// A web site on paper: what each URL answers, and a check of it without network, in any order.
struct PaperSite {
    enum Reply {
        case page(links: [String], anchors: Set<String> = [], unread: String? = nil)
        case file
        case status(Int)
        case redirect(String, status: Int = 301)
        case failure(String)
    }

    var replies: [String: Reply]
    var partBytesMax = 1 << 20

    init(_ replies: [String: Reply]) { self.replies = replies }

    /// The events that a worker sends for a job.
    func events(for job: FetchJob) -> [LinkCheck.Event] {
        switch replies[job.url] ?? .status(404) {
        case .page(let links, let anchors, let unread):
            guard job.isPageWanted else {
                return [.fetched(target: job.target, answer: LinkCheck.Answer(status: 200))]
            }
            let contents = Self.lines(job.url, links, anchors, base: job.base).contents(bytesMax: partBytesMax)
            var events: [LinkCheck.Event] = contents.dropLast().enumerated().map {
                .part(target: job.target, number: $0.offset, content: $0.element)
            }
            let answer = LinkCheck.Answer(status: 200, page: contents.last, unread: unread)
            events.append(.fetched(target: job.target, answer: answer))
            return events
        case .file: return [.fetched(target: job.target, answer: LinkCheck.Answer(status: 200))]
        case .status(let status): return [.fetched(target: job.target, answer: LinkCheck.Answer(status: status))]
        case .redirect(let location, let status):
            let line = PageLines.line(location: location, base: job.base)
            return [.fetched(target: job.target, answer: LinkCheck.Answer(status: status, location: line))]
        case .failure(let error): return [.failed(target: job.target, status: nil, error: error)]
        }
    }

    static func lines(_ url: String, _ links: [String], _ anchors: Set<String>, base: String) -> PageLines {
        var page = ParsedPage()
        page.anchors = anchors
        var known: Set<ParsedPage.Link> = []
        for link in links {
            do throws(WebURLError) {
                let target = try WebURL(url).resolve(link)
                let found = ParsedPage.Link(target: target.string, fragment: target.fragment)
                if known.insert(found).inserted { page.links.append(found) }
            } catch {
                page.malformedLinks.append(link)
            }
        }
        return PageLines(page, base: base)
    }

    /// Checks the site, with the answers in an order that the seed decides.
    /// - Parameter doubling: the share of events that come a second time, at once or later.
    func check(_ settings: CheckSettings, seed: UInt64 = 0, doubling: Double = 0) -> LinkCheckState {
        let definition = LinkCheck(settings: settings)
        var state = definition.initial
        var random = SeededRandom(seed: seed)
        var seq = Seq.initial
        var late: [LinkCheck.Event] = []
        func apply(_ event: LinkCheck.Event) {
            seq = seq.next
            let time = WallTime(milliseconds: 1000 + Int64(seq.value))
            definition.reduce(into: &state, event, Transition(seq: seq, time: time, seed: 0))
        }
        while let job = state.requests.values.randomElement(using: &random) {
            var tries = [events(for: job)]
            // A worker that dies midway sends a beginning; its successor sends everything.
            if random.fraction() < doubling { tries.insert(tries[0].dropLast(), at: 0) }
            for event in tries.joined() {
                apply(event)
                if random.fraction() < doubling { apply(event) }
            }
            if random.fraction() < doubling { late += tries.joined() }
            if random.fraction() < doubling, let event = late.randomElement(using: &random) { apply(event) }
        }
        for event in late { apply(event) }
        return state
    }

    /// The report, but for the time.
    func report(_ settings: CheckSettings, seed: UInt64 = 0, doubling: Double = 0) -> LinkReport {
        let state = check(settings, seed: seed, doubling: doubling)
        var report = LinkReport(state)
        report.seconds = 0
        return report
    }
}

extension CheckSettings {
    static func site(_ url: String = "http://h/", _ change: (inout CheckSettings) -> Void = { _ in }) -> CheckSettings {
        var settings = CheckSettings()
        settings.site = url
        settings.isRelative = true
        change(&settings)
        return settings
    }
}

extension LinkReport.Broken {
    /// `url status error < referrer referrer`, as short as a test wants it.
    var line: String {
        let what = [url, status.map(String.init), error].compactMap { $0 }.joined(separator: " ")
        return referrers.isEmpty ? what : "\(what) < \(referrers.joined(separator: " "))"
    }
}

extension LinkReport.Redirect {
    var line: String {
        let what = "\(url) \(status) > \(target)"
        return referrers.isEmpty ? what : "\(what) < \(referrers.joined(separator: " "))"
    }
}

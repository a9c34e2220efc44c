internal import LoopCore

/// Makes the entries of a report from a state, target by target.
struct LinkReportReader {
    private let state: LinkCheckState
    private(set) var broken: [LinkReport.Broken] = []
    private(set) var redirects: [LinkReport.Redirect] = []
    /// The names of pages, cached because a page is in many entries.
    private var printed: [UInt32: String] = [:]

    init(_ state: LinkCheckState) { self.state = state }

    mutating func read(_ number: UInt32, _ target: Target) {
        // The start is reported even if no page links to it.
        let isOfInterest = !target.links.isEmpty || number == 0
        switch target.phase {
        case .broken(let error) where isOfInterest:
            addBroken(number, as: target, error, target.links)
        case .page:
            addMissing(number, target, target.links)
        case .redirect(let next, _):
            redirects.append(
                LinkReport.Redirect(
                    url: state.printed(number), status: Int(target.status), target: state.printed(next),
                    referrers: pages(target.links)))
            if isOfInterest { addRedirected(number, target) }
        default: return
        }
    }

    static func isBefore(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }

    // MARK: Entries

    private mutating func addBroken(_ number: UInt32, as end: Target, _ error: String, _ links: [Target.Link]) {
        broken.append(
            LinkReport.Broken(
                url: state.printed(number), status: end.status == 0 ? nil : Int(end.status),
                error: error.isEmpty ? nil : error, referrers: pages(links)))
    }

    /// Adds one entry for each fragment of the links, all of which `page` lacks.
    private mutating func addMissing(_ number: UInt32, _ page: Target, _ links: [Target.Link]) {
        var referrers: [String: Set<UInt32>] = [:]
        for link in links { referrers[link.fragment, default: []].insert(link.page) }
        if referrers.isEmpty { return }
        let url = state.printed(number)
        for (fragment, pages) in referrers {
            broken.append(
                LinkReport.Broken(
                    url: "\(url)#\(fragment)", status: Int(page.status), error: "no such fragment",
                    referrers: names(pages)))
        }
    }

    /// Judges a link to a redirect by the end of the redirect.
    private mutating func addRedirected(_ number: UInt32, _ target: Target) {
        var end = target
        var seen: Set<UInt32> = [number]
        var keepsFragment = true
        while case .redirect(let next, let isToPlace) = end.phase {
            let isLoop = !seen.insert(next).inserted
            if isLoop || seen.count > Int(LinkCheckState.hopsMax) + 1 {
                broken.append(
                    LinkReport.Broken(
                        url: state.printed(number), status: Int(target.status),
                        error: isLoop ? "redirect loop" : "too many redirects", referrers: pages(target.links)))
                return
            }
            if isToPlace { keepsFragment = false }
            guard let further = state.targets[next] else { return }
            end = further
        }
        if case .broken(let error) = end.phase {
            addBroken(number, as: end, error, target.links)
        } else if case .page(let anchors) = end.phase, keepsFragment {
            addMissing(number, end, target.links.filter { !AnchorSet(hashes: anchors).contains($0.fragment) })
        }
    }

    // MARK: Names

    private mutating func pages(_ links: [Target.Link]) -> [String] { names(Set(links.lazy.map(\.page))) }

    private mutating func names(_ pages: Set<UInt32>) -> [String] {
        var names: [String] = []
        for page in pages {
            let name = printed[page] ?? state.printed(page)
            printed[page] = name
            names.append(name)
        }
        return names.sorted(by: Self.isBefore)
    }
}

extension LinkCheckState {
    /// A target for people: as written if it is no URL, or relative to the site's root if the settings say so.
    func printed(_ target: UInt32) -> String {
        switch name(of: target).utf8.first {
        case LinkLines.malformed, LinkLines.overlong: PercentEncoding.decode(name(of: target).dropFirst())
        case LinkLines.inScope where settings.isRelative: name(of: target)
        default: url(of: target)
        }
    }
}

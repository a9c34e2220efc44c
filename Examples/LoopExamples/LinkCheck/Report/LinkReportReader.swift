internal import LoopCore

/// Makes the entries of a report from a state, target by target.
struct LinkReportReader {
    private let state: LinkCheckState
    private(set) var broken: [LinkReport.Broken] = []
    private(set) var redirects: [LinkReport.Redirect] = []
    /// The names of pages, cached because a page is in many entries.
    private var printed: [UInt32: String] = [:]

    init(_ state: LinkCheckState) { self.state = state }

    mutating func read(_ number: UInt32) {
        let target = state.targets[Int(number)]
        let list = state.links[Int(number)]
        // The start is reported even if no page links to it.
        let isOfInterest = !list.isEmpty || number == 0
        switch target.phase {
        case .broken where isOfInterest:
            addBroken(number, as: target, list)
        case .page:
            addMissing(number, target, list)
        case .redirect, .redirectToPlace:
            redirects.append(
                LinkReport.Redirect(
                    url: state.printed(number), status: Int(target.status), target: state.printed(target.detail),
                    referrers: pages(list)))
            if isOfInterest { addRedirected(number, target, list) }
        default: return
        }
    }

    static func isBefore(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }

    // MARK: Entries

    private mutating func addBroken(_ number: UInt32, as end: Target, _ list: LinkList) {
        broken.append(
            LinkReport.Broken(
                url: state.printed(number), status: end.status == 0 ? nil : Int(end.status),
                error: end.detail == 0 ? nil : state.errors[end.detail], referrers: pages(list)))
    }

    /// Adds one entry for each fragment of the links, all of which `page` lacks.
    private mutating func addMissing(_ number: UInt32, _ page: Target, _ links: some Sequence<LinkList.Link>) {
        var referrers: [UInt32: Set<UInt32>] = [:]
        for link in links { referrers[link.fragment, default: []].insert(link.page) }
        if referrers.isEmpty { return }
        let url = state.printed(number)
        for (fragment, pages) in referrers {
            broken.append(
                LinkReport.Broken(
                    url: "\(url)#\(state.fragments[fragment])", status: Int(page.status), error: "no such fragment",
                    referrers: names(pages)))
        }
    }

    /// Judges a link to a redirect by the end of the redirect.
    private mutating func addRedirected(_ number: UInt32, _ target: Target, _ list: LinkList) {
        var end = target
        var seen: Set<UInt32> = [number]
        var keepsFragment = true
        while end.isRedirect {
            let isLoop = !seen.insert(end.detail).inserted
            if isLoop || seen.count > Int(LinkCheckState.hopsMax) + 1 {
                broken.append(
                    LinkReport.Broken(
                        url: state.printed(number), status: Int(target.status),
                        error: isLoop ? "redirect loop" : "too many redirects", referrers: pages(list)))
                return
            }
            if end.phase == .redirectToPlace { keepsFragment = false }
            end = state.targets[Int(end.detail)]
        }
        if end.phase == .broken {
            addBroken(number, as: end, list)
        } else if end.phase == .page, keepsFragment {
            let anchors = state.anchors[Int(end.detail)]
            let lacking = list.filter { link in
                link.fragment != 0 && !state.fragments.withBytes(of: link.fragment) { anchors.contains($0) }
            }
            addMissing(number, end, lacking)
        }
    }

    // MARK: Names

    private mutating func pages(_ list: LinkList) -> [String] { names(Set(list.lazy.map(\.page))) }

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
        switch names.firstByte(of: target) {
        case LinkLines.malformed, LinkLines.overlong: PercentEncoding.decode(names[target].dropFirst())
        case LinkLines.inScope where settings.isRelative: names[target]
        default: url(of: target)
        }
    }
}

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
    var cutPages: Int
    var seconds: Double

    init(_ state: LinkCheckState) {
        pages = state.pagesCount
        links = state.linksCount
        cutPages = state.cutPagesCount
        seconds = state.seconds
        for number in 0..<UInt32(state.targets.count) {
            let target = state.targets[Int(number)]
            let list = state.links[Int(number)]
            // The start is reported though no page links to it.
            let isOfInterest = !list.isEmpty || number == 0
            switch target.phase {
            case .broken where isOfInterest:
                broken.append(Self.entry(number, target, list, in: state))
            case .page:
                broken += Self.missing(number, target, list, in: state)
            case .redirect, .redirectToPlace:
                redirects.append(
                    Redirect(
                        url: state.printed(number), status: Int(target.status), target: state.printed(target.detail),
                        referrers: Self.pages(list, in: state)))
                if isOfInterest { broken += Self.redirected(number, target, list, in: state) }
            default: continue
            }
        }
        broken.sort { Self.isBefore($0.url, $1.url) }
        redirects.sort { Self.isBefore($0.url, $1.url) }
    }

    // MARK: Entries

    private static func entry(
        _ number: UInt32, _ end: Target, _ list: LinkList, in state: LinkCheckState
    ) -> Broken {
        Broken(
            url: state.printed(number), status: end.status == 0 ? nil : Int(end.status),
            error: end.detail == 0 ? nil : state.errors[end.detail], referrers: pages(list, in: state))
    }

    /// One entry for each fragment of the list, which `page` lacks.
    private static func missing(
        _ number: UInt32, _ page: Target, _ list: some Sequence<LinkList.Link>, in state: LinkCheckState
    ) -> [Broken] {
        var referrers: [UInt32: Set<UInt32>] = [:]
        for link in list { referrers[link.fragment, default: []].insert(link.page) }
        let url = state.printed(number)
        return referrers.map { fragment, pages in
            Broken(
                url: "\(url)#\(state.fragments[fragment])", status: Int(page.status), error: "no such fragment",
                referrers: names(pages, in: state))
        }
    }

    /// A link to a redirect is as good as where the redirect ends.
    private static func redirected(
        _ number: UInt32, _ target: Target, _ list: LinkList, in state: LinkCheckState
    ) -> [Broken] {
        var end = target
        var seen: Set<UInt32> = [number]
        var keepsFragment = true
        while end.isRedirect {
            let isLoop = !seen.insert(end.detail).inserted
            let isTooLong = seen.count > Int(LinkCheckState.hopsMax) + 1
            if isLoop || isTooLong {
                return [
                    Broken(
                        url: state.printed(number), status: Int(target.status),
                        error: isLoop ? "redirect loop" : "too many redirects", referrers: pages(list, in: state))
                ]
            }
            if end.phase == .redirectToPlace { keepsFragment = false }
            end = state.targets[Int(end.detail)]
        }
        switch end.phase {
        case .broken: return [entry(number, end, list, in: state)]
        case .page where keepsFragment:
            let anchors = state.anchors[Int(end.detail)]
            let lacking = list.filter { link in
                link.fragment != 0 && !state.fragments.withBytes(of: link.fragment) { anchors.contains($0) }
            }
            return missing(number, end, lacking, in: state)
        default: return []
        }
    }

    // MARK: Names

    private static func pages(_ list: LinkList, in state: LinkCheckState) -> [String] {
        names(Set(list.lazy.map(\.page)), in: state)
    }

    private static func names(_ pages: Set<UInt32>, in state: LinkCheckState) -> [String] {
        pages.map { state.printed($0) }.sorted(by: isBefore)
    }

    private static func isBefore(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }
}

extension LinkCheckState {
    /// A target as people read it: as it was written where it is no URL, from the site's root on where that is wished.
    func printed(_ target: UInt32) -> String {
        switch names.firstByte(of: target) {
        case LinkLines.malformed, LinkLines.overlong: FragmentText.decode(String(names[target].dropFirst()))
        case LinkLines.inScope where settings.isRelative: names[target]
        default: url(of: target)
        }
    }
}

/// Everything that is known about a site, small enough that 50,000 pages fit in memory with room to spare.
///
/// Names, fragments and errors are numbered once. Of a page its anchors stay, as hashes. A link is kept while its target
/// is not known, and afterwards only where the report needs it: to what is broken, redirects, or lacks the place.
public struct LinkCheckState: Sendable {
    /// The longest chain of redirects that is followed.
    static let hopsMax: UInt8 = 10

    public internal(set) var settings: CheckSettings
    /// The site's folder without its closing slash.
    public internal(set) var base: String
    /// Pages parsed.
    public internal(set) var pagesCount = 0
    /// Distinct pairs of a page and a target with its fragment.
    public internal(set) var linksCount = 0
    /// Those of them that are known to be broken; redirects are judged only at the end.
    public internal(set) var brokenLinksCount = 0
    /// Targets that are known to be what they are.
    public internal(set) var doneCount = 0
    /// Pages that were longer than what was read of them.
    public internal(set) var cutPagesCount = 0
    /// Journaled times of the first and the last event.
    var firstTime: Int64?
    var lastTime: Int64?

    var names = NameTable()
    var targets = Chunks<Target>()
    /// The links to each target that are still of interest.
    var links = Chunks<LinkList>()
    var anchors = Chunks<AnchorSet>()
    var fragments = NameTable([""])
    var errors = NameTable([""])
    var frontier = Frontier()
    /// Parts of large pages whose end has not come yet.
    var parts: [UInt32: [LinkCheck.PageContent]] = [:]
    var ignored: [URLPattern]

    init(_ settings: CheckSettings) {
        self.settings = settings
        base = Self.folder(of: settings.site)
        ignored = settings.ignored.map(URLPattern.init)
        guard !settings.site.isEmpty else { return }
        _ = enqueued(Self.name(of: settings.site, base: base), hops: 0)
        fill()
    }

    /// What should be being fetched.
    public var window: [UInt32: FetchJob] { frontier.window }

    /// How many targets are known that are to be fetched, fetched ones included.
    public var foundCount: Int { frontier.queue.count }

    /// Whether nothing is left to do.
    public var isFinished: Bool { !settings.site.isEmpty && frontier.isDrained }

    /// Journaled seconds between the first and the last answer.
    public var seconds: Double {
        guard let firstTime, let lastTime else { return 0 }
        return Double(lastTime - firstTime) / 1000
    }

    /// The absolute URL of a target.
    func url(of target: UInt32) -> String {
        names.firstByte(of: target) == LinkLines.inScope ? base + names[target] : names[target]
    }

    private func isInScope(_ target: UInt32) -> Bool { names.firstByte(of: target) == LinkLines.inScope }

    private func job(for target: UInt32, isPageWanted: Bool) -> FetchJob? {
        guard Int(target) < targets.count, targets[Int(target)].phase == .queued else { return nil }
        return FetchJob(
            target: target, url: url(of: target), base: base, isPageWanted: isPageWanted && isInScope(target),
            limits: settings.limits)
    }

    private mutating func fill() {
        while let next = frontier.next(windowMax: max(settings.window, 1)) {
            if let job = job(for: next.target, isPageWanted: next.isPageWanted) { frontier.offer(job) }
        }
    }

    /// Offers again what was offered when the state was stored.
    mutating func restoreWindow() {
        for entry in frontier.unanswered {
            if let job = job(for: entry.target, isPageWanted: entry.isPageWanted) { frontier.offer(job) }
        }
    }
}

// MARK: Events

extension LinkCheckState {
    /// Applies an event. One that came before, or that is about no target, changes nothing.
    mutating func apply(_ event: LinkCheck.Event, at milliseconds: Int64?) {
        if let milliseconds {
            firstTime = firstTime ?? milliseconds
            lastTime = max(milliseconds, lastTime ?? milliseconds)
        }
        switch event {
        case .part(let target, let number, let content):
            guard isOpen(target) else { return }
            if number == 0 {
                parts[target] = [content]
            } else if parts[target]?.count == number {
                parts[target]?.append(content)
            }
        case .fetched(let target, var answer):
            guard isOpen(target) else { return }
            if let first = parts.removeValue(forKey: target), let last = answer.page {
                let all = first + [last]
                answer.page = LinkCheck.PageContent(
                    links: all.map(\.links).joined(), anchors: Array(all.map(\.anchors).joined()))
            }
            settle(target, .answered(answer))
        case .failed(let target, let status, let error):
            guard isOpen(target) else { return }
            parts[target] = nil
            settle(target, .failed(status: status, error: error))
        }
    }

    /// Whether the target still waits for its answer.
    private func isOpen(_ target: UInt32) -> Bool {
        Int(target) < targets.count && targets[Int(target)].phase == .queued && frontier.held[target] == nil
    }

    private mutating func settle(_ target: UInt32, _ outcome: LinkCheck.Result) {
        frontier.close(target)
        if settings.pagesMax == nil {
            take(target, outcome)
        } else if frontier.hold(target, outcome) {
            while let next = frontier.takeNext() { take(next.target, next.outcome) }
        }
        fill()
    }

    private mutating func take(_ target: UInt32, _ outcome: LinkCheck.Result) {
        doneCount += 1
        switch outcome {
        case .failed(let status, let error):
            let number = errors.intern(Self.line(error ?? (status == nil ? "no answer" : ""))).number
            resolve(target, .broken, status: status ?? 0, detail: number)
        case .answered(let answer):
            if let location = answer.location {
                redirect(target, to: location, status: answer.status)
            } else if (200..<300).contains(answer.status) {
                if let page = answer.page, isInScope(target), settings.pagesMax.map({ pagesCount < $0 }) ?? true {
                    read(target, page, answer)
                } else {
                    resolve(target, .file, status: answer.status)
                }
            } else {
                let error = (300..<400).contains(answer.status) ? "redirect to nowhere" : ""
                resolve(target, .broken, status: answer.status, detail: errors.intern(error).number)
            }
        }
    }

    /// Sets what a target is, and looks at the links that waited for it.
    private mutating func resolve(_ target: UInt32, _ phase: Target.Phase, status: Int, detail: UInt32 = 0) {
        targets.update(Int(target)) {
            $0.phase = phase
            $0.status = UInt16(clamping: status)
            $0.detail = detail
        }
        let waiting = links[Int(target)]
        switch phase {
        case .page:
            let anchors = anchors[Int(detail)]
            let missing = waiting.filter { link in
                link.fragment != 0 && !fragments.withBytes(of: link.fragment) { anchors.contains($0) }
            }
            links.update(Int(target)) { $0 = LinkList(missing) }
            brokenLinksCount += missing.count
        case .broken:
            brokenLinksCount += waiting.reduce(0) { count, _ in count + 1 }
        case .file, .unchecked:
            links.update(Int(target)) { $0 = LinkList() }
        case .redirect, .redirectToPlace, .queued, .unvisited:
            break
        }
    }

    /// Without line ends, and not longer than a line should be.
    private static func line(_ text: String) -> String {
        String(text.prefix(200).map { $0.isNewline ? " " : $0 })
    }
}

// MARK: Pages and links

extension LinkCheckState {
    private mutating func read(_ page: UInt32, _ content: LinkCheck.PageContent, _ answer: LinkCheck.Answer) {
        pagesCount += 1
        if let pagesMax = settings.pagesMax, pagesCount >= pagesMax { frontier.wantFilesOnly() }
        if answer.isCut {
            cutPagesCount += 1
            resolve(page, .file, status: answer.status)
        } else {
            anchors.append(AnchorSet(bytes: content.anchors))
            resolve(page, .page, status: answer.status, detail: UInt32(anchors.count - 1))
        }
        let lines = content.links.utf8.span
        var reader = LinkLines.Reader()
        var target: UInt32?
        while let piece = reader.next(in: lines) {
            switch piece {
            case .target(let range):
                target = linked(lines.extracting(range))
            case .fragment(let range):
                linksCount += 1
                if let target { link(page, to: target, lines.extracting(range)) }
            }
        }
    }

    /// The number of a target that a page links to; nil where it is not to be checked.
    private mutating func linked(_ name: Span<UInt8>) -> UInt32? {
        guard name.count > 0 else { return nil }
        switch name[0] {
        case LinkLines.malformed, LinkLines.overlong:
            let (number, isNew) = names.intern(name)
            guard isNew else { return number }
            let error =
                name[0] == LinkLines.malformed ? "malformed URL" : "URL of more than \(LinkLines.bytesMax) bytes"
            targets.append(Target(.broken, detail: errors.intern(error).number))
            links.append(LinkList())
            return number
        case LinkLines.inScope:
            break
        default:
            if !settings.checksExternal { return nil }
        }
        if !ignored.isEmpty, isIgnored(name.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }) {
            return nil
        }
        let (number, isNew) = names.intern(name)
        if isNew {
            targets.append(Target(.queued))
            links.append(LinkList())
            frontier.append(number)
        } else if targets[Int(number)].hops > 0 {
            approach(number, hops: 0)
        }
        return number
    }

    private mutating func link(_ page: UInt32, to target: UInt32, _ fragment: Span<UInt8>) {
        let known = targets[Int(target)]
        switch known.phase {
        case .file, .unchecked:
            return
        case .page:
            if fragment.count == 0 || anchors[Int(known.detail)].contains(fragment) { return }
            brokenLinksCount += 1
        case .broken:
            brokenLinksCount += 1
        case .queued, .unvisited, .redirect, .redirectToPlace:
            break
        }
        let number = fragment.count == 0 ? 0 : fragments.intern(fragment).number
        links.update(Int(target)) { $0.append(LinkList.Link(page: page, fragment: number)) }
    }

    /// The number of a target that may be new and is to be fetched.
    private mutating func enqueued(_ name: String, hops: UInt8) -> UInt32 {
        let (number, isNew) = names.intern(name)
        if !isNew {
            approach(number, hops: hops)
            return number
        }
        var phase = hops > Self.hopsMax ? Target.Phase.unvisited : .queued
        if name.utf8.first != LinkLines.inScope, !settings.checksExternal { phase = .unchecked }
        // The start is what was asked for.
        if number > 0, isIgnored(name) { phase = .unchecked }
        targets.append(Target(phase, hops: hops))
        links.append(LinkList())
        if phase == .queued { frontier.append(number) }
        return number
    }

    /// Notes that a target is fewer redirects away from a link than was known, and with it all that it leads to.
    private mutating func approach(_ target: UInt32, hops: UInt8) {
        let known = targets[Int(target)]
        guard hops < known.hops else { return }
        targets.update(Int(target)) { $0.hops = hops }
        if known.phase == .unvisited, hops <= Self.hopsMax {
            targets.update(Int(target)) { $0.phase = .queued }
            frontier.append(target)
        }
        if known.isRedirect { approach(known.detail, hops: hops + 1) }
    }

    private func isIgnored(_ name: String) -> Bool {
        if ignored.isEmpty { return false }
        let isInScope = name.utf8.first == LinkLines.inScope
        return ignored.contains { $0.matches(name) || isInScope && $0.matches(base + name) }
    }
}

// MARK: Redirects

extension LinkCheckState {
    private mutating func redirect(_ target: UInt32, to location: String, status: Int) {
        var parts = location.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        parts[0] = Self.line(parts[0])
        guard let first = parts[0].utf8.first, first != LinkLines.malformed, first != LinkLines.overlong else {
            return resolve(target, .broken, status: status, detail: errors.intern("redirect to nowhere").number)
        }
        if pagesCount == 0, let url = movedSite(from: target, to: parts[0]) {
            rebase(to: Self.folder(of: url))
            parts[0] = Self.name(of: url, base: base)
        }
        let next = enqueued(parts[0], hops: min(targets[Int(target)].hops + 1, Self.hopsMax + 1))
        resolve(
            target, parts.count > 1 && !parts[1].isEmpty ? .redirectToPlace : .redirect, status: status, detail: next)
    }

    /// The scope is where the site really is: the start may redirect to another place, or to itself with a slash.
    /// - Returns: the URL of the site's new start; nil where the scope stays.
    private func movedSite(from target: UInt32, to location: String) -> String? {
        if location.utf8.first != LinkLines.inScope { return location }
        return location == names[target] + "/" ? base + location : nil
    }

    /// Renames all targets, which are the start and what it redirected to.
    private mutating func rebase(to moved: String) {
        let urls = (0..<UInt32(names.count)).map { url(of: $0) }
        base = moved
        names = NameTable(urls.map { Self.name(of: $0, base: moved) })
    }

    /// The URL up to its last slash, without it.
    static func folder(of url: String) -> String {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        guard let slash = path.lastIndex(of: "/") else { return String(path) }
        return String(path[..<slash])
    }

    /// How a target is named here: from the base's slash on when it is in scope.
    static func name(of url: String, base: String) -> String {
        guard url.utf8.starts(with: base.utf8) else { return url }
        let rest = url.utf8.dropFirst(base.utf8.count)
        return rest.first == LinkLines.inScope ? String(Substring(rest)) : url
    }
}

// The changes that a page and its links make to the state.

extension LinkCheckState {
    mutating func read(_ page: UInt32, _ content: LinkCheck.PageContent, _ answer: LinkCheck.Answer) {
        pagesCount += 1
        if let pagesMax = settings.pagesMax, pagesCount >= pagesMax { frontier.wantFilesOnly() }
        let phase = answer.unread.map { Target.Phase.broken(error: Self.line($0)) } ?? .page(anchors: content.anchors)
        resolve(page, phase, status: answer.status)
        for (name, fragments) in LinkLines.links(content.links) {
            linksCount += fragments.count
            guard let target = linked(name) else { continue }
            for fragment in fragments { link(page, to: target, fragment) }
        }
    }

    /// The number of a linked target, or nil if it is not to be checked.
    private mutating func linked(_ name: String) -> UInt32? {
        var phase = Target.Phase.queued
        switch name.utf8.first {
        case nil: return nil
        case LinkLines.malformed: phase = .broken(error: "malformed URL")
        case LinkLines.overlong: phase = .broken(error: "URL of more than \(LinkLines.bytesMax) bytes")
        case LinkLines.inScope:
            if isIgnored(name) { return nil }
        default:
            if !settings.checksExternal || isIgnored(name) { return nil }
            if LinkLines.hasUser(name) { phase = .broken(error: "has a user name or a password") }
        }
        guard let number = numbers[name] else { return add(name, phase) }
        approach(number, hops: 0)
        return number
    }

    private mutating func link(_ page: UInt32, to target: UInt32, _ fragment: String) {
        switch targets[target]?.phase {
        case .file, .unchecked, nil:
            return
        case .page(let anchors):
            if AnchorSet(hashes: anchors).contains(fragment) { return }
            brokenLinksCount += 1
        case .broken:
            brokenLinksCount += 1
        case .queued, .unvisited, .redirect:
            break
        }
        targets[target]?.links.append(Target.Link(page: page, fragment: fragment))
    }

    /// The number of a target to fetch, which may be new.
    mutating func enqueued(_ name: String, hops: UInt8) -> UInt32 {
        if let number = numbers[name] {
            approach(number, hops: hops)
            return number
        }
        var phase = hops > Self.hopsMax ? Target.Phase.unvisited : .queued
        if name.utf8.first != LinkLines.inScope, !settings.checksExternal { phase = .unchecked }
        // The start is always checked.
        if !targets.isEmpty, isIgnored(name) { phase = .unchecked }
        return add(name, phase, hops: hops)
    }

    private mutating func add(_ name: String, _ phase: Target.Phase, hops: UInt8 = 0) -> UInt32 {
        let number = UInt32(targets.count)
        numbers[name] = number
        targets[number] = Target(name: name, phase: phase, hops: hops)
        if phase == .queued { fetch(number) }
        return number
    }

    /// Lets a target be fetched.
    mutating func fetch(_ target: UInt32) {
        targets[target]?.phase = .queued
        frontier.append(
            FetchJob(
                target: target, url: url(of: target), base: base, isPageWanted: isInScope(target),
                keepsCookies: cookieRetries.contains(target), limits: settings.limits))
    }

    /// Lowers the number of redirects between a link and a target, and all that the target leads to.
    private mutating func approach(_ target: UInt32, hops: UInt8) {
        guard let known = targets[target], hops < known.hops else { return }
        targets[target]?.hops = hops
        if known.phase == .unvisited, hops <= Self.hopsMax { fetch(target) }
        if let next = known.next { approach(next, hops: hops + 1) }
    }

    func isIgnored(_ name: String) -> Bool {
        if settings.ignored.isEmpty { return false }
        let isInScope = name.utf8.first == LinkLines.inScope
        return settings.ignored.map(URLPattern.init).contains {
            $0.matches(name) || isInScope && $0.matches(base + name)
        }
    }
}

// Unsafe: the bytes belong to a value that lives for the whole call.

// The changes that a page and its links make to the state.

extension LinkCheckState {
    mutating func read(_ page: UInt32, _ content: LinkCheck.PageContent, _ answer: LinkCheck.Answer) {
        pagesCount += 1
        if let pagesMax = settings.pagesMax, pagesCount >= pagesMax { frontier.wantFilesOnly() }
        if let reason = answer.unread {
            resolve(page, .broken, status: answer.status, detail: errors.intern(Self.line(reason)).number)
        } else {
            anchors.append(AnchorSet(bytes: content.anchors))
            resolve(page, .page, status: answer.status, detail: UInt32(anchors.count - 1))
        }
        for (name, fragments) in LinkLines.links(content.links) {
            let target = linked(name.span)
            linksCount += fragments.count
            if let target { for fragment in fragments { link(page, to: target, fragment.span) } }
        }
    }

    /// The number of a linked target, or nil if it is not to be checked.
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
        if !ignored.isEmpty {
            let text = unsafe name.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
            if isIgnored(text) { return nil }
        }
        let (number, isNew) = names.intern(name)
        if isNew {
            let hasUser = LinkLines.hasUser(name)
            let error = hasUser ? errors.intern("has a user name or a password").number : 0
            targets.append(Target(hasUser ? .broken : .queued, detail: error))
            links.append(LinkList())
            if !hasUser { frontier.append(number) }
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

    /// The number of a target to fetch, which may be new.
    mutating func enqueued(_ name: String, hops: UInt8) -> UInt32 {
        let (number, isNew) = names.intern(name)
        if !isNew {
            approach(number, hops: hops)
            return number
        }
        var phase = hops > Self.hopsMax ? Target.Phase.unvisited : .queued
        if name.utf8.first != LinkLines.inScope, !settings.checksExternal { phase = .unchecked }
        // The start is always checked.
        if number > 0, isIgnored(name) { phase = .unchecked }
        targets.append(Target(phase, hops: hops))
        links.append(LinkList())
        if phase == .queued { frontier.append(number) }
        return number
    }

    /// Lowers the number of redirects between a link and a target, and all that the target leads to.
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

    func isIgnored(_ name: String) -> Bool {
        if ignored.isEmpty { return false }
        let isInScope = name.utf8.first == LinkLines.inScope
        return ignored.contains { $0.matches(name) || isInScope && $0.matches(base + name) }
    }
}

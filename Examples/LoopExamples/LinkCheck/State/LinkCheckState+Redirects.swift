// The changes that redirects make to the state and to its scope.

extension LinkCheckState {
    mutating func redirect(_ target: UInt32, to location: String, status: Int) {
        var parts = location.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        parts[0] = Self.line(parts[0])
        if parts[0].utf8.first == LinkLines.overlong {
            let error = "redirect to a URL of more than \(LinkLines.bytesMax) bytes"
            return resolve(target, .broken(error: error), status: status)
        }
        if pagesCount == 0, let url = movedSite(from: target, to: parts[0]) {
            rebase(to: Self.folder(of: url))
            parts[0] = Self.name(of: url, base: base)
        }
        let next = enqueued(parts[0], hops: min((targets[target]?.hops ?? 0) + 1, Self.hopsMax + 1))
        if pagesCount == 0, targets[next]?.phase == .unchecked {
            return resolve(target, .broken(error: "redirect to what is ignored"), status: status)
        }
        let isToPlace = parts.count > 1 && !parts[1].isEmpty
        resolve(target, .redirect(target: next, toPlace: isToPlace), status: status)
    }

    /// If this step closes a loop in which one sets a cookie, fetches the others once more: they may want that cookie.
    mutating func retryLoop(from target: UInt32) {
        var loop: [UInt32] = []
        var step = target
        repeat {
            guard let next = targets[step]?.next, loop.count <= Self.hopsMax else { return }
            loop.append(step)
            step = next
        } while step != target
        guard loop.contains(where: cookieSteps.contains) else { return }
        // A step that sets a cookie was followed with it at once.
        for step in loop.sorted() where !cookieSteps.contains(step) && cookieRetries.insert(step).inserted {
            fetch(step)
            doneCount -= 1
        }
    }

    /// The scope is the real location of the site, because the start may redirect elsewhere, or to itself with a slash.
    /// - Returns: the URL of the site's new start, or nil if the scope stays.
    private func movedSite(from target: UInt32, to location: String) -> String? {
        if location.utf8.first != LinkLines.inScope { return location }
        return location == name(of: target) + "/" ? base + location : nil
    }

    /// Renames all targets, which are the start and its redirects.
    private mutating func rebase(to moved: String) {
        let old = self
        base = moved
        numbers = [:]
        for number in old.targets.keys {
            let name = Self.name(of: old.url(of: number), base: moved)
            targets[number]?.name = name
            numbers[name] = number
        }
    }

    /// The URL up to and without its last slash.
    static func folder(of url: String) -> String {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        guard let slash = path.lastIndex(of: "/") else { return String(path) }
        return String(path[..<slash])
    }

    /// The name of a target: relative to the base, from its slash on, if it is in scope.
    static func name(of url: String, base: String) -> String {
        guard url.utf8.starts(with: base.utf8) else { return url }
        let rest = url.utf8.dropFirst(base.utf8.count)
        return rest.first == LinkLines.inScope ? String(Substring(rest)) : url
    }
}

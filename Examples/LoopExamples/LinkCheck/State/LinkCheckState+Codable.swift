// Encoded compactly, as bytes and texts instead of many small values.
extension LinkCheckState: Codable {
    private enum Key: String, CodingKey {
        case settings, base, pages, links, broken, done, first, last
        case names, targets, fragments, errors, anchors, linked, linkLists, queue, offered, taken, filesFrom, held,
            parts, cookieSteps, cookieRetries
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        self.init(CheckSettings())
        settings = try container.decode(CheckSettings.self, forKey: .settings)
        ignored = settings.ignored.map(URLPattern.init)
        base = try container.decode(String.self, forKey: .base)
        pagesCount = try container.decode(Int.self, forKey: .pages)
        linksCount = try container.decode(Int.self, forKey: .links)
        brokenLinksCount = try container.decode(Int.self, forKey: .broken)
        doneCount = try container.decode(Int.self, forKey: .done)
        firstTime = try container.decodeIfPresent(Int64.self, forKey: .first)
        lastTime = try container.decodeIfPresent(Int64.self, forKey: .last)
        names = try container.decode(NameTable.self, forKey: .names)
        fragments = try container.decode(NameTable.self, forKey: .fragments)
        errors = try container.decode(NameTable.self, forKey: .errors)
        cookieSteps = try container.decode(Set<UInt32>.self, forKey: .cookieSteps)
        cookieRetries = try container.decode(Set<UInt32>.self, forKey: .cookieRetries)
        parts = try container.decode([UInt32: [LinkCheck.PageContent]].self, forKey: .parts)
        for bytes in try container.decode([[UInt8]].self, forKey: .anchors) {
            anchors.append(AnchorSet(bytes: bytes))
        }
        let packed = try container.decode([UInt8].self, forKey: .targets)
        for index in 0..<packed.count / 8 {
            guard let target = Target(packed: packed.number(index)) else { throw corrupt(.targets, in: container) }
            targets.append(target)
            links.append(LinkList())
        }
        let linked = try container.decode([UInt32].self, forKey: .linked)
        for (target, bytes) in zip(linked, try container.decode([[UInt8]].self, forKey: .linkLists)) {
            guard Int(target) < links.count else { throw corrupt(.linked, in: container) }
            links.update(Int(target)) { $0 = LinkList(bytes: bytes) }
        }
        frontier = Frontier(
            queue: try container.decode([UInt32].self, forKey: .queue),
            offeredCount: try container.decode(Int.self, forKey: .offered),
            takenCount: try container.decode(Int.self, forKey: .taken),
            filesFrom: try container.decodeIfPresent(Int.self, forKey: .filesFrom),
            held: try container.decode([UInt32: LinkCheck.Result].self, forKey: .held))
        try check(container)
        restoreRequests()
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(settings, forKey: .settings)
        try container.encode(base, forKey: .base)
        try container.encode(pagesCount, forKey: .pages)
        try container.encode(linksCount, forKey: .links)
        try container.encode(brokenLinksCount, forKey: .broken)
        try container.encode(doneCount, forKey: .done)
        try container.encodeIfPresent(firstTime, forKey: .first)
        try container.encodeIfPresent(lastTime, forKey: .last)
        try container.encode(names, forKey: .names)
        try container.encode(fragments, forKey: .fragments)
        try container.encode(errors, forKey: .errors)
        try container.encode(parts, forKey: .parts)
        try container.encode(cookieSteps.sorted(), forKey: .cookieSteps)
        try container.encode(cookieRetries.sorted(), forKey: .cookieRetries)
        try container.encode(anchors.flattened.map(\.bytes), forKey: .anchors)
        try container.encode([UInt8](packing: targets.flattened.map(\.packed)), forKey: .targets)
        let linked = (0..<links.count).filter { !links[$0].isEmpty }
        try container.encode(linked.map(UInt32.init), forKey: .linked)
        try container.encode(linked.map { links[$0].bytes }, forKey: .linkLists)
        try container.encode(frontier.queue.flattened, forKey: .queue)
        try container.encode(frontier.offeredCount, forKey: .offered)
        try container.encode(frontier.takenCount, forKey: .taken)
        try container.encodeIfPresent(frontier.filesFrom, forKey: .filesFrom)
        try container.encode(frontier.held, forKey: .held)
    }

    /// Checks that a state from a file refers only to targets that exist.
    private func check(_ container: KeyedDecodingContainer<Key>) throws {
        guard names.count == targets.count else { throw corrupt(.names, in: container) }
        guard frontier.queue.flattened.allSatisfy({ $0 < targets.count }) else { throw corrupt(.queue, in: container) }
        for target in targets.flattened {
            switch target.phase {
            case .page where target.detail >= anchors.count, .broken where target.detail >= errors.count,
                .redirect where target.detail >= targets.count, .redirectToPlace where target.detail >= targets.count:
                throw corrupt(.targets, in: container)
            default: continue
            }
        }
        for index in 0..<links.count {
            for link in links[index] where link.page >= targets.count || link.fragment >= fragments.count {
                throw corrupt(.linkLists, in: container)
            }
        }
    }

    private func corrupt(_ key: Key, in container: KeyedDecodingContainer<Key>) -> DecodingError {
        .dataCorruptedError(
            forKey: key, in: container, debugDescription: "'\(key.rawValue)' of the link check does not fit the rest")
    }
}

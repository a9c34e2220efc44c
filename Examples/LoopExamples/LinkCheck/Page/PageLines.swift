internal import LoopFetch

/// A parsed page, packed for its events.
struct PageLines {
    /// A line for each target, in the order in which they first appear on the page.
    private(set) var lines: [String] = []
    /// The hashes of the anchors, sorted.
    private(set) var anchors: [UInt64]

    init(_ page: ParsedPage, base: String) {
        anchors = page.anchors.map { AnchorSet.hash(FragmentText.encode($0).utf8) }.sorted()
        var others: [String] = []
        var numbers: [String: Int] = [:]
        var targets: [(name: String, fragments: [String])] = []
        // The parser's links are distinct, and their fragments have one form, so that none occurs twice.
        for link in page.links {
            let fragment = link.fragment.map { FragmentText.encode($0) } ?? ""
            if link.target.utf8.count + fragment.utf8.count > LinkLines.bytesMax {
                others.append(Self.marked(LinkLines.overlong, link.target))
                continue
            }
            if let number = numbers[link.target] {
                targets[number].fragments.append(fragment)
            } else {
                numbers[link.target] = targets.count
                targets.append((LinkCheckState.name(of: link.target, base: base), [fragment]))
            }
        }
        for link in page.malformedLinks { others.append(Self.marked(LinkLines.malformed, link)) }
        for name in others where numbers.updateValue(0, forKey: name) == nil { targets.append((name, [""])) }
        lines = targets.flatMap { Self.lines($0.name, $0.fragments) }
    }

    /// The payloads of the events, at least one, and none much larger than `bytesMax`.
    func contents(bytesMax: Int) -> [LinkCheck.PageContent] {
        var contents = [LinkCheck.PageContent()]
        var bytes = 0
        func makeSpace(_ count: Int) {
            if bytes > 0, bytes + count > bytesMax {
                contents.append(LinkCheck.PageContent())
                bytes = 0
            }
            bytes += count
        }
        for line in lines {
            makeSpace(line.utf8.count)
            contents[contents.count - 1].links += line
        }
        // The CBOR of a number has at most nine bytes.
        let hashesMax = max(bytesMax / 9, 1)
        for start in stride(from: 0, to: anchors.count, by: hashesMax) {
            let hashes = Array(anchors[start..<min(start + hashesMax, anchors.count)])
            makeSpace(9 * hashes.count)
            contents[contents.count - 1].anchors = hashes
        }
        return contents
    }

    /// The target of a redirect as a line, without a line end.
    static func line(location: String, base: String) -> String {
        let parts = location.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if parts[0].utf8.count > LinkLines.bytesMax { return marked(LinkLines.overlong, parts[0]) }
        let name = LinkCheckState.name(of: parts[0], base: base)
        return parts.count > 1 && !parts[1].isEmpty ? "\(name)#\(FragmentText.encode(parts[1]))" : name
    }

    /// A name for a reference that is no URL, truncated to a readable length.
    private static func marked(_ mark: UInt8, _ reference: String) -> String {
        let text = FragmentText.encode(malformed: reference.count > 200 ? reference.prefix(200) + "…" : reference)
        return String(decoding: [mark], as: UTF8.self) + text
    }

    /// One line, or several for a target with very many fragments.
    private static func lines(_ name: String, _ fragments: [String]) -> [String] {
        if fragments == [""] { return [name + "\n"] }
        var lines: [String] = []
        var line = name
        for fragment in fragments {
            if line.utf8.count > 4 * LinkLines.bytesMax {
                lines.append(line + "\n")
                line = name
            }
            line += "#" + fragment
        }
        lines.append(line + "\n")
        return lines
    }
}

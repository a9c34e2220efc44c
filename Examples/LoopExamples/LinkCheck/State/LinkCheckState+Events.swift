// The changes that events make to the state.

extension LinkCheckState {
    /// Applies an event. A repeated one, or one about an unknown target, changes nothing.
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
                } else if pagesCount == 0 {
                    // Before the first page, only the start and its redirects are known.
                    let reason = Self.line(answer.unread ?? (isInScope(target) ? "no page" : "not read: out of scope"))
                    resolve(target, .broken, status: answer.status, detail: errors.intern(reason).number)
                } else {
                    resolve(target, .file, status: answer.status)
                }
            } else {
                let error = (300..<400).contains(answer.status) ? "redirect to nowhere" : ""
                resolve(target, .broken, status: answer.status, detail: errors.intern(error).number)
            }
        }
    }

    /// Sets the phase of a target, and checks the links that waited for it.
    mutating func resolve(_ target: UInt32, _ phase: Target.Phase, status: Int, detail: UInt32 = 0) {
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

    /// The text without line ends, truncated to the length of a line.
    static func line(_ text: String) -> String {
        String(text.prefix(200).map { $0.isNewline ? " " : $0 })
    }
}

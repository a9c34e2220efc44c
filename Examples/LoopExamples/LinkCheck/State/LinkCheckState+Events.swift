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
            guard isOpen(target), answer.keptCookies == cookieRetries.contains(target) else { return }
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
        targets[target]?.phase == .queued && frontier.isOpen(target)
    }

    private mutating func settle(_ target: UInt32, _ outcome: LinkCheck.Result) {
        frontier.close(target)
        if settings.pagesMax == nil {
            take(target, outcome)
        } else {
            frontier.hold(target, outcome)
            while let next = frontier.takeNext() { take(next.target, next.outcome) }
        }
        frontier.offer(isOrdered: settings.pagesMax != nil)
    }

    private mutating func take(_ target: UInt32, _ outcome: LinkCheck.Result) {
        doneCount += 1
        switch outcome {
        case .failed(let status, let error):
            let error = Self.line(error ?? (status == nil ? "no answer" : ""))
            resolve(target, .broken(error: error), status: status ?? 0)
        case .answered(let answer):
            if let location = answer.location {
                if answer.setsCookie { cookieSteps.insert(target) }
                redirect(target, to: location, status: answer.status)
                retryLoop(from: target)
            } else if (200..<300).contains(answer.status) {
                if let page = answer.page, isInScope(target), settings.pagesMax.map({ pagesCount < $0 }) ?? true {
                    read(target, page, answer)
                } else if pagesCount == 0 {
                    // Before the first page, only the start and its redirects are known.
                    let reason = Self.line(answer.unread ?? (isInScope(target) ? "no page" : "not read: out of scope"))
                    resolve(target, .broken(error: reason), status: answer.status)
                } else {
                    resolve(target, .file, status: answer.status)
                }
            } else {
                let error = [301, 302, 303, 307, 308].contains(answer.status) ? "redirect to nowhere" : ""
                resolve(target, .broken(error: error), status: answer.status)
            }
        }
    }

    /// Sets the phase of a target, and checks the links that waited for it.
    mutating func resolve(_ target: UInt32, _ phase: Target.Phase, status: Int) {
        var links = targets[target]?.links ?? []
        switch phase {
        case .page(let anchors):
            links.removeAll { AnchorSet(hashes: anchors).contains($0.fragment) }
            brokenLinksCount += links.count
        case .broken:
            brokenLinksCount += links.count
        case .file, .unchecked:
            links = []
        case .redirect, .queued, .unvisited:
            break
        }
        targets[target]?.phase = phase
        targets[target]?.status = UInt16(clamping: status)
        targets[target]?.links = links
    }

    /// The text without line ends, truncated to the length of a line.
    static func line(_ text: String) -> String {
        String(text.prefix(200).map { $0.isNewline ? " " : $0 })
    }
}

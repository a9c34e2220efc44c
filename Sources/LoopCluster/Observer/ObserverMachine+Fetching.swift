import LoopCore
import LoopWire

/// What does not come by itself: it is asked for, a state part by part.
extension ObserverMachine {
    private var repeatInterval: Duration { .milliseconds(300) }

    var fetchDeadline: MonotonicTime {
        guard following.hasStates else { return MonotonicTime(nanoseconds: .max) }
        if fetch != nil || content == nil || lack != nil { return nextRequest }
        if let behindSince {
            return ending == nil ? max(behindSince + patience + following.interval, nextRequest) : nextRequest
        }
        return MonotonicTime(nanoseconds: .max)
    }

    mutating func askIfDue() { if now >= nextRequest { ask() } }

    private mutating func ask() {
        nextRequest = now + repeatInterval
        if lack == .events, fetch == nil, let content, let fingerprint = following.fingerprint {
            return actions.append(
                .send(.transitionsRequest(fingerprint: fingerprint, after: content.upperBound)))
        }
        guard fetch != nil else { return askForPart(0, of: 0) }
        fetch?.askAnew()
        askAhead()
    }

    private mutating func askForPart(_ part: UInt64, of transfer: UInt64) {
        actions.append(
            .send(
                .stateRequest(
                    transfer: transfer, part: part, form: form, section: following.section,
                    deltas: following.deltas)))
    }

    private mutating func askAhead() {
        nextRequest = now + repeatInterval
        guard let id = fetch?.id, let parts = fetch?.ahead() else { return }
        for part in parts { askForPart(part, of: id) }
    }

    mutating func assemble(_ part: StatePart) {
        if isOld(part.seq) {
            fetch = nil
            return
        }
        if fetch?.id != part.transfer {
            guard part.part == 0 else { return }
            fetch = StateFetch(part)
        }
        // Taken out for as long as it is added to: an array that two hold would be copied with each part.
        guard var begun = fetch.take() else { return }
        guard part.part == begun.next else {
            fetch = begun
            return
        }
        let chunk = begun.take(part)
        let (seq, count) = (begun.seq, begun.chunksCount)
        fetch = begun
        if let chunk {
            if count == 1, part.end == .state { return show(seq, chunk) }
            actions.append(.chunk(seq, number: count - 1, chunk))
            cameInChunks = true
            if part.end == .state { return show(seq) { .assembled(seq, isAgain: $0) } }
        }
        askAhead()
    }

    /// Events that were asked for. Where none of them follows the last one, they are no longer at hand.
    mutating func repair(_ notes: [TransitionNote]) {
        guard lack == .events, fetch == nil, let content else { return }
        var last = content.upperBound
        let next = notes.filter { note in
            guard note.seq > last, note.seq.value - last.value == 1 else { return false }
            last = note.seq
            return true
        }
        if next.isEmpty {
            lack = .state
            return ask()
        }
        handOut(next)
        useWaiting()
        // An answer is no longer than a message: there may be more.
        if lack == nil, let content = self.content, content.upperBound < newest { lack = .events }
        if lack != nil { ask() }
    }
}

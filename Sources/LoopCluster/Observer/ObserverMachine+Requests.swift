import LoopCore
import LoopWire

/// Requests for what does not come by itself. A state is fetched part by part.
extension ObserverMachine {
    mutating func askIfDue() { if now >= requests.next { ask() } }

    private mutating func ask() {
        if state.lack == .events, !requests.isFetching, let seqs = state.seqs, let fingerprint = following.fingerprint {
            requests.delay(at: now)
            return send([.transitionsRequest(fingerprint: fingerprint, after: seqs.upperBound)])
        }
        send(requests.ask(at: now))
    }

    private mutating func send(_ messages: [ToReducer]) { for message in messages { actions.append(.send(message)) } }

    mutating func assemble(_ part: StatePart) {
        if state.isOld(part.seq) { return requests.endTransfer() }
        switch requests.take(part) {
        case .nothing: return
        case .more: break
        case .state(let seq, let bytes): return show(seq, bytes)
        case .chunk(let seq, let number, let bytes, let isLast):
            actions.append(.chunk(seq, number: number, bytes))
            if isLast { return show(seq) { .assembled(seq, isAgain: $0) } }
        }
        send(requests.askAhead(at: now))
    }

    /// Takes events that were requested. If none of them follows the last one, they are no longer available.
    mutating func repair(_ notes: [TransitionNote]) {
        guard state.lack == .events, !requests.isFetching, var last = state.seqs?.upperBound else { return }
        let next = notes.filter { note in
            guard note.seq > last, note.seq.value - last.value == 1 else { return false }
            last = note.seq
            return true
        }
        if next.isEmpty {
            state.lack = .state
            return ask()
        }
        handOut(next)
        useWaiting()
        // An answer is at most one message long, so there may be more events.
        if !state.isNewest, state.lack == nil { state.lack = .events }
        if state.lack != nil { ask() }
    }
}

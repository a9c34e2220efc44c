package import LoopCore
package import LoopWire

/// Inputs of the process: entries, and the request to stop. (Protocol, sections 2 and 5.)
extension PeerMachine {
    /// Takes entries from the process, in order: events of clients and of effects that run here, and the ends of these effects.
    /// No entry comes in by another way. If an effect's event is too large and its body does not wait for the outcome, the
    /// attempt fails instead, and the body is stopped.
    package mutating func accept(_ run: EntryRun) -> Acceptance {
        var acceptance = Acceptance(first: lastNumber + 1)
        // Accepted entries that are not in the outbox yet.
        var start = run.startIndex
        for index in run.indices {
            let head = run.head(at: index)
            if let refusal = refusal(of: head, at: index, in: run, after: start) {
                delivery.accept(start..<index, of: run, at: now)
                start = index + 1
                if refusal.reason == .tooLarge, let effect = head.effectIfAny, !head.isHeard {
                    // The failure has the number of the event.
                    let failure = Entry(endOf: effect, head.attempt, Failure(refused: refusal))
                    delivery.accept(0..<1, of: [failure], at: now)
                    attempts.end(effect, head.attempt)
                    actions.append(.stop(effect, head.attempt))
                } else {
                    acceptance.refused.append((index, refusal))
                }
            } else if head.endsTheBody {
                attempts.end(head.effect, head.attempt)
                acceptance.ended.append((head.effect, head.attempt))
            }
        }
        delivery.accept(start..<run.endIndex, of: run, at: now)
        return acceptance
    }

    /// Why an entry is not accepted, or nil if it is. An end is accepted even if the outbox is full, because a part of it is
    /// reserved for ends.
    private mutating func refusal(
        of entry: EntryHead, at index: Int, in run: EntryRun, after start: Int
    ) -> SendRefusal? {
        let isEvent = entry.kind == .event
        if isEvent, phase.hasLeft || ending != nil { return SendRefusal(.ended) }
        if entry.hasEffect, !attempts.runs(entry.effect, entry.attempt) { return SendRefusal(.stale) }
        guard isEvent else { return nil }
        if run.payloadBytesMax > eventBytesMax {
            let byteCount = run.payload(of: entry).count
            if byteCount > eventBytesMax {
                let detail = "\(byteCount) bytes encoded, the limit is \(eventBytesMax)"
                return SendRefusal(.tooLarge, detail: detail)
            }
        }
        let hasSpace = delivery.takesEvent(after: index - start, bytes: run.byteCount(of: start..<index), brokenRules)
        return hasSpace ? nil : SendRefusal(.overloaded)
    }

    /// Sends one event of a client, or of an effect that runs here.
    /// - Parameters:
    ///   - payload: the encoded event.
    ///   - effect: the effect and the attempt that send it, or nil for a client.
    ///   - wantsSeq: whether the sender asks for the seq at which the event is applied.
    ///   - isLast: whether the effect's body ends with the event, if it is accepted.
    ///   - wantsAnswer: whether the sender asks for an answer, and for the seq with it. Not with the last event of a body.
    /// - Returns: the result. The number is that of a failure if an effect's event is too large and no outcome is asked for.
    package mutating func send(
        _ payload: ArraySlice<UInt8>, of effect: (id: EffectID, attempt: Attempt)?, wantsSeq: Bool,
        isLast: Bool = false, wantsAnswer: Bool = false
    ) -> SendResult {
        let acceptance = accept([
            Entry(
                kind: .event, effect: effect?.id, attempt: effect?.attempt ?? .none, payload: payload,
                wantsSeq: wantsSeq, isLast: isLast, wantsAnswer: wantsAnswer)
        ])
        guard let refusal = acceptance.refused.first?.refusal else { return .accepted(number: acceptance.first) }
        return refusal.reason == .overloaded ? .full : .refused(refusal)
    }

    /// Takes note that the body of an effect returned, or threw an error.
    package mutating func effectEnded(_ effect: EffectID, _ attempt: Attempt, failure: Failure?) {
        _ = accept([Entry(endOf: effect, attempt, failure)])
    }

    /// Takes note of an effect's progress. The newest report leaves with the next heartbeat.
    package mutating func report(_ report: AttemptProgress) {
        if attempts.runs(report.effect, report.attempt) { progress.note(report) }
    }

    /// Hands everything back, then says goodbye. `finished` follows when all outcomes are known.
    package mutating func stop(at now: MonotonicTime) {
        self.now = max(self.now, now)
        guard !isStopping, !phase.hasLeft else { return }
        isStopping = true
        for (effect, attempt) in attempts.inOrder { actions.append(.stop(effect, attempt)) }
        handBack()
        phase.inJoined { $0.nextHeartbeat = self.now }
        finishIfEmpty()
    }

    /// Hands back everything that runs here, and what was granted after the peer was asked to stop.
    mutating func handBack() {
        for (effect, attempt) in attempts.inOrder { handBack(effect, attempt) }
    }

    /// Hands back an attempt whose body does not run here.
    package mutating func handBack(_ effect: EffectID, _ attempt: Attempt) {
        _ = accept([Entry(kind: .released, effect: effect, attempt: attempt)])
    }

    /// Leaves the loop if the peer is to stop, and everything is handed back and settled.
    mutating func finishIfEmpty() {
        guard isStopping, outbox.isEmpty, attempts.running.isEmpty, !phase.hasLeft else { return }
        if session == .none { return finish() }
        phase = .leaving(next: now, by: now + min(terms.silenceLimit, .seconds(2)))
        leave()
    }

    /// Repeats the goodbye until the reducer has answered it or the limit has passed.
    mutating func leave() {
        guard case .leaving(_, let limit) = phase else { return }
        if now >= limit { return finish() }
        if isDue { step(goodbye) }
    }

    mutating func finish() {
        actions.append(.finished)
        phase = .over
    }

    // MARK: To the socket

    /// The next batch to push, or nil if there is none. Batches grow with the backlog and never wait.
    package mutating func nextBatch() -> Batch? {
        guard phase.isJoined, let (first, entries) = delivery.next() else { return nil }
        return Batch(
            loop: loop, history: history, session: session, settled: delivery.settledForGood, applied: inbox.applied,
            first: first, entries: entries)
    }

    /// Takes back a batch that the socket did not take. It is sent again.
    package mutating func couldNotPush(_ batch: Batch) { delivery.goBack(before: batch.first) }
}

/// The result of handing several entries to a peer at once.
package struct Acceptance: Sendable {
    /// The number of the first entry that was accepted. The numbers of the others follow without a gap.
    package let first: UInt64
    /// The entries that were not accepted, by their index in the run, ascending. The refusal of an effect's end has no
    /// consequences, because its attempt no longer runs here.
    package internal(set) var refused: [(index: Int, refusal: SendRefusal)] = []
    /// The attempts whose body has ended.
    package internal(set) var ended: [(effect: EffectID, attempt: Attempt)] = []

    init(first: UInt64) { self.first = first }

    /// The number of an entry of a run that begins at index 0, or why the entry has none.
    package subscript(index: Int) -> Result<UInt64, SendRefusal> {
        // The index in `refused` of the first refused entry that is not before this one.
        var (low, high) = (0, refused.count)
        while low < high {
            let middle = (low + high) / 2
            if refused[middle].index < index { low = middle + 1 } else { high = middle }
        }
        if low < refused.count, refused[low].index == index { return .failure(refused[low].refusal) }
        return .success(first + UInt64(index - low))
    }
}

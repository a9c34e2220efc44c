import LoopCore
import LoopWire

/// What operators do with events that were set aside.
extension ReducerCore {
    private var retriesMax: Int { 64 }

    /// A quarantined event is tried again in a turn of its own.
    mutating func requestRetry(_ retry: QuarantineRetry) {
        guard poison.retries.count < retriesMax else {
            return answer(
                .refused("\(retriesMax) quarantined events wait to be tried again; ask later"), retry.number,
                retry.route)
        }
        poison.retries.append(retry)
    }

    /// - Returns: whether this turn is used up by it.
    mutating func retryFirst() -> Bool {
        guard let retry = poison.retries.first else { return false }
        // Whatever came before it in this turn is committed first.
        guard records.isEmpty, !poison.isAlone else { return true }
        poison.retries.removeFirst()
        poison.isAlone = true
        answer(applyQuarantined(retry), retry.number, retry.route)
        return true
    }

    private mutating func applyQuarantined(_ retry: QuarantineRetry) -> AdministrationAnswer {
        guard let record = core.quarantine[retry.id] else { return unknownQuarantine(retry.id) }
        guard outcome == nil else { return .refused("the loop has ended") }
        if let effect = record.effect, core.effects[effect] == nil {
            return .refused(
                "the effect \(effect) that sent event \(retry.id) is no longer wanted, and its events with it;"
                    + " drop it: loopctl quarantine drop \(retry.id)")
        }
        if let suspect = poison.suspects.first(where: { $0.isRetry && $0.number == retry.id }) {
            poison.survivors.append(suspect)
            return .refused(
                "the last try of event \(retry.id) ended the process in \(suspect.phase); start a build that can take"
                    + " it, or ask once more to try it all the same")
        }
        core.note?.enter(.none, retry.id, record.effect, record.bytes)
        defer { core.note?.leave() }
        guard let bytes = presentEventSetAside(record.bytes) else {
            return .refused(
                "the bytes of event \(retry.id) are not an event of this build; drop it:"
                    + " loopctl quarantine drop \(retry.id)")
        }
        write(.operatorAction(OperatorAction(.retryQuarantined(retry.id), by: retry.who, at: now.wall)))
        watchQuarantine()
        let applied = EventRecord(
            seq: core.seq.next, time: max(core.time, now.wall), session: .none, number: 0, effect: record.effect,
            attempt: record.attempt, wantsSeq: false, bytes: bytes)
        guard apply(applied) else { preconditionFailure("event \(retry.id) could be decoded, and then could not") }
        return .done("event \(retry.id) is applied as seq \(applied.seq)")
    }

    mutating func dropQuarantined(_ id: UInt64, by who: String) -> AdministrationAnswer {
        guard core.quarantine[id] != nil else { return unknownQuarantine(id) }
        write(.operatorAction(OperatorAction(.dropQuarantined(id), by: who, at: now.wall)))
        watchQuarantine()
        return .done("quarantined event \(id) is dropped")
    }

    /// The events that were set aside, without their bytes, the newest thousand.
    func quarantineList() -> AdministrationAnswer {
        .quarantine(core.quarantine.keys.sorted().suffix(1000).compactMap { core.quarantine[$0]?.listed(bytes: false) })
    }

    func quarantined(_ id: UInt64) -> AdministrationAnswer {
        guard let record = core.quarantine[id] else { return unknownQuarantine(id) }
        return .quarantine([record.listed(bytes: true)])
    }

    private func unknownQuarantine(_ id: UInt64) -> AdministrationAnswer {
        .refused("there is no quarantined event \(id); see: loopctl quarantine list")
    }
}

extension QuarantineRecord {
    fileprivate func listed(bytes hasBytes: Bool) -> QuarantinedEvent {
        QuarantinedEvent(
            id: id, time: time.milliseconds, session: session.value, number: number, effect: effect?.description,
            phase: phase.description, crashes: Int(crashes), event: hasBytes ? Array(bytes) : [])
    }
}

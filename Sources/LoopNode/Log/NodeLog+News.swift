import LoopCluster
import LoopCore
import LoopWire

/// Turns the news of a reducer's machine into events of the log.
extension NodeLog {
    func tell(_ news: ReducerNews) {
        switch news {
        case .joined(let peer):
            once(
                .joined, of: peer.key, "\(peer.who) has joined, in session \(peer.session)", peer.fields,
                level: peer.level)
        case .left(let peer, let parting):
            once(
                .left, of: peer.key, "\(peer.who) has left: \(parting.text)", peer.fields + [.reason(parting.rawValue)],
                level: parting == .goodbye ? peer.level : nil)
        case .lost(let peer, let effects):
            let what = effects == 0 ? "" : "; it held \(Self.count(effects, "effect")), for others to run"
            once(
                .lost, of: peer.key, "\(peer.who) is silent\(what)", peer.fields + [.effects(effects)],
                level: peer.isWorker ? nil : .info)
        case .returned(let peer, let duration):
            once(
                .reconnected, of: peer.key, "\(peer.who) is heard again, after \(duration.text)",
                peer.fields + [.duration(duration)], level: peer.isWorker ? nil : .info)
        case .idle(let peer, let reason):
            once(.idle, of: peer.key, "\(peer.who): \(reason)", peer.fields + [.reason(reason)])
        case .unserved(let news):
            note(.unserved, news.text, [.feedback(news.feedback), .effects(news.effects)])
        case .served(let news, let duration):
            let text = "\"\(news.feedback)\" has a worker again, or none of its effects waits"
            note(
                .served, "\(text), after \(duration.text)",
                [.feedback(news.feedback), .duration(duration)])
        case .clockBehind(let lag, let text): note(.clockBehind, text, [.duration(lag)])
        case .clockCaughtUp:
            note(.clockCaughtUp, "the clock has caught up with the times in the journal", [])
        case .clockAccepted(let lag):
            note(
                .clockCaughtUp,
                "the loop's time was set back by \(lag.text) to the clock, because of --accept-clock: leave that out from now on",
                [.duration(lag)])
        case .effectFailed(let failure, let delay):
            once(
                .effectFailed, of: failure.feedback,
                "\(failure.what) failed in \(HistoryRecord.words(for: "\(failure.attempt)")): \(failure.reason); it is tried again"
                    + " in \(delay.text)",
                failure.fields([.retryIn(delay)]))
        case .parked(let failure):
            let tries = failure.failures > 0 ? " after \(Self.count(Int(failure.failures), "failure"))" : ""
            once(
                .parked, of: failure.feedback,
                "\(failure.what) is parked\(tries): \(failure.reason); see: loopctl effects", failure.fields())
        case .quarantined(let record, let feedback): quarantined(record, feedback)
        case .logHeld(let byteCount, let text): note(.journal, text, [.bytes(byteCount)], level: .warning)
        case .otherLeader(let leader, let text):
            note(.historyChanged, text, [.address(leader.address), .history("\(leader.history)")])
        case .undecodable(let entry, let why):
            note(
                .undecodable,
                "event \(entry.number) of session \(entry.session) is refused, since it is no event of this loop: \(why)",
                [.session(entry.session.value), .number(entry.number), .reason(why)])
        case .notAllowed(let line): note(.notAllowed, line, [.reason(line)])
        case .impure(let seq, let what):
            note(
                .impure,
                "the definition is not a function of its arguments: event \(seq), applied twice to the same state,"
                    + " gave \(what)", [.seq(seq), .reason(what)])
        case .runLeftOut(let schedule):
            note(
                .runLeftOut,
                "the event of the schedule \(schedule) cannot be encoded, or is too large; it is left out",
                [.schedule(schedule)])
        case .definitionUpgrade(let upgrade): upgraded(upgrade)
        }
    }

    private func quarantined(_ record: QuarantineRecord, _ feedback: String?) {
        let isOwn = record.session == .none && record.number == 0
        let event =
            isOwn
            ? "the event of a \(record.effect == nil ? "schedule" : "timer")"
            : "event \(record.number) of session \(record.session)"
        let sender = record.effect.map { "effect \($0), \(feedback ?? "?")" } ?? "no effect"
        var fields: [LogField] = [.quarantined(record.id)]
        if !isOwn { fields += [.session(record.session.value), .number(record.number)] }
        if let effect = record.effect { fields.append(.effect(effect)) }
        if let feedback { fields.append(.feedback(feedback)) }
        note(
            .quarantined,
            "\(event) (\(sender)), \(JSONText.onOneLine(record.text)), ended this process \(record.crashes) times in"
                + " \(record.phase) and is set aside as quarantined event \(record.id); look at it with: loopctl quarantine show"
                + " \(record.id)",
            fields + [.reason("\(record.phase)")])
    }

    private func upgraded(_ upgrade: NewsOfUpgrade) {
        let (old, new) = (hexadecimal(upgrade.fingerprintBefore), hexadecimal(upgrade.fingerprint))
        note(
            .definitionUpgrade,
            "this definition (schema \(upgrade.schema), fingerprint \(new)) takes over from another one (schema"
                + " \(upgrade.schemaBefore), fingerprint \(old)): \(Self.count(upgrade.cancelled, "effect")) cancelled,"
                + " \(upgrade.started) started, \(upgrade.updated) updated",
            [.fingerprintBefore(old), .fingerprint(new)])
    }

    static func count(_ count: Int, _ noun: String) -> String { count == 1 ? "1 \(noun)" : "\(count) \(noun)s" }
}

extension NewsOfPeer {
    /// A sender may live for one event, which matters only in a search for an error.
    fileprivate var level: LogLevel { isWorker ? .info : .debug }

    fileprivate var key: String { "\(peer)" }

    fileprivate var who: String {
        "\(isWorker ? "the worker" : "the peer") \(name.isEmpty ? "\(peer)" : "\"\(name)\" (\(peer))")"
    }

    fileprivate var fields: [LogField] { [.peer(name.isEmpty ? "\(peer)" : name), .session(session.value)] }
}

extension NewsOfFailure {
    fileprivate var what: String { "effect \(effect) of \"\(feedback)\"" }

    fileprivate func fields(_ others: [LogField] = []) -> [LogField] {
        var fields: [LogField] = [.effect(effect), .feedback(feedback)]
        if attempt != .none { fields.append(.attempt("\(attempt)")) }
        return fields + [.failures(failures)] + others + [.reason(reason)]
    }
}

extension ReducerNews.Parting {
    fileprivate var text: String {
        switch self {
        case .goodbye: "it has said goodbye"
        case .idle: "it was silent for too long"
        case .evicted: "it was silent, and others need the session"
        case .revoked: "its key may not take part any more"
        }
    }
}

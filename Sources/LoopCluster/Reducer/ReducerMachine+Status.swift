import LoopCore
package import LoopWire

/// The status report of a reducer.
extension ReducerMachine {
    /// About how many bytes of the peers' names and groups a report has. It is made at most once in each turn, and must stay a
    /// small part of it.
    private static var peersBytesMax: Int { 256 << 10 }

    mutating func answerStatus() {
        guard !turn.statusDue.isEmpty else { return }
        let document = statusDocument()
        for route in turn.statusDue { turn.reply(.status(document), to: route) }
    }

    /// The encoded report, as one message. Its lists are cut until it fits, and say how many items they leave out.
    private func statusDocument() -> [UInt8] {
        var report = status()
        while true {
            let document = (try? journaled.loop.coder.encode(report)) ?? []
            if document.count <= context.configuration.payloadBytesMax || !report.cut() { return document }
        }
    }

    /// The size of a log, in bytes, from which there is a warning. It is 16 times the usual size without a reader.
    private static var heldLogBytesMax: Int { 64 << 20 }

    /// Takes what the shell knows, as of this turn.
    package mutating func notice(_ new: ShellFacts) {
        let isHeld = heldLogBytes != nil
        facts = new
        if !isHeld, let heldLogBytes, let heldLogWarning { turn.news.append(.logHeld(heldLogBytes, heldLogWarning)) }
    }

    /// The size of the journal's log in bytes, or nil if no reader has made it too large.
    private var heldLogBytes: Int? { facts.heldLogBytes.flatMap { $0 >= Self.heldLogBytesMax ? $0 : nil } }

    private var heldLogWarning: String? {
        heldLogBytes.map {
            "A READER KEEPS THE JOURNAL'S LOG FROM BEING MOVED INTO ITS FILE: the log has \($0 >> 20) MiB and grows; end the program that"
                + " reads the journal (sqlite3, a backup)"
        }
    }

    /// The age of an open transaction of the journal's database from which there is a warning.
    private static var longTransaction: Duration { .seconds(300) }

    /// A report as of the newest turn. It must wait for the turn's receipt before it is shown (G14).
    package func status() -> StatusReport {
        let now = context.now.monotonic
        var report = StatusReport(loop: journaled.loop.name, schema: journaled.loop.schema)
        report.role = StatusReport.leaderRole
        report.leader = setting.advertised
        report.journalLease = facts.journalLease.map { lease in
            StatusReport.JournalLease(
                milliseconds: lease.duration.wholeMilliseconds,
                provenMillisecondsAgo: (now - lease.provenAt).wholeMilliseconds)
        }
        report.history = journaled.history.description
        report.epoch = journaled.epoch.number
        report.seq = journaled.seq.value
        report.uptimeMilliseconds = (now - setting.processBegan).wholeMilliseconds
        report.eventsPerSecond = ticks.rate.perSecond(journaled.seq, at: now)
        report.notReadyBecause =
            phase.outcome == nil ? phase.loss?.description ?? otherLeadersText : "the loop has ended"
        report.isReady = report.notReadyBecause == nil
        report.journalFault = phase.loss.map { _ in JournalFault(.historyLost) }
        report.progress = journaled.loopState.progress
        report.exitCode = phase.outcome?.exitCode
        report.peers = peers()
        report.peersLeftOut =
            admission.members.count > report.peers.count ? admission.members.count - report.peers.count : nil
        report.feedbacks = feedbackCounts()
        (report.parked, report.parkedLeftOut) = parked()
        (report.effectReports, report.effectReportsLeftOut) = effectReports()
        report.quarantined = journaled.quarantine.count
        if let next = timers.queue.first {
            report.timers = timers.queue.count
            report.nextTimer = next.time.milliseconds
        }
        report.clockBehindMilliseconds = clockLag.map { $0.wholeMilliseconds }
        report.connections = facts.connections?.count
        report.connectionsMax = facts.connections?.max
        report.warnings = warnings()
        for counter in Counter.allCases { report.counters[counter.rawValue] = turn.counters[counter] ?? 0 }
        return report
    }

    /// The peers; of very many, only the oldest.
    private func peers() -> [StatusReport.Peer] {
        var peers: [StatusReport.Peer] = []
        var room = Self.peersBytesMax
        for session in admission.members.keys.sorted().prefix(1000) {
            guard let member = admission.members[session] else { continue }
            room -= member.groups.reduce(64 + member.name.utf8.count) { $0 + 2 + $1.utf8.count }
            if room < 0 { break }
            peers.append(status(of: member, session))
        }
        return peers
    }

    private func status(of member: Member, _ session: SessionID) -> StatusReport.Peer {
        var peer = StatusReport.Peer(
            name: member.name, peer: member.peer, session: session, groups: member.groups, capacity: member.capacity)
        peer.leases = member.holding.count
        peer.leaseMilliseconds = (member.leaseEnds - context.now.monotonic).wholeMilliseconds
        peer.lag = member.inbox.lag
        peer.completed = member.completedCount
        peer.watermark = journaled.sessions[session]?.watermark ?? 0
        return peer
    }

    private func feedbackCounts() -> [StatusReport.FeedbackCounts] {
        var counts = journaled.loop.feedbacks.map { StatusReport.FeedbackCounts(name: $0.name) }
        var positions: [UInt32: Int] = [:]
        for (position, number) in journaled.table.numbers.enumerated() {
            positions[number] = position
            counts[position].completed = Int(dispatch.figures[Int(number)].completed)
            counts[position].group = journaled.table.group(number)
        }
        let silent = admission.members.silent(at: context.now.monotonic)
        var reasons = counts.map { _ in [ListedEffect.Reason: Int]() }
        // All effects of a feedback find the same workers.
        var byWorkers: [UInt32: ListedEffect.Reason] = [:]
        for (place, id) in journaled.effects.places {
            guard let feedback = positions[id.feedback] else { continue }
            let state = state(at: place, silent)
            switch state {
            case .running: counts[feedback].running += 1
            case .waiting:
                counts[feedback].waiting += 1
                var reason = reason(of: id, at: place, state, inWords: false)?.0 ?? byWorkers[id.feedback]
                if reason == nil {
                    reason = reasonByWorkers(id).0
                    byWorkers[id.feedback] = reason
                }
                if let reason { reasons[feedback][reason, default: 0] += 1 }
                guard !timers.isTimer(id), let waits = waitMilliseconds(at: place) else { continue }
                counts[feedback].oldestWaitMilliseconds = max(counts[feedback].oldestWaitMilliseconds ?? 0, waits)
            case .completed: break
            case .parked: counts[feedback].parked += 1
            }
        }
        for (feedback, reasons) in reasons.enumerated() where !reasons.isEmpty {
            counts[feedback].waitReasons = Dictionary(uniqueKeysWithValues: reasons.map { ($0.key.rawValue, $0.value) })
        }
        return counts
    }

    /// What became of each feedback's effects in this epoch, by the numbers of the feedbacks.
    package var effectFigures: [EffectFigures] { dispatch.figures }

    /// How long the effect at a place has waited, or nil if it does not wait for a worker, a limit or its next try.
    func waitMilliseconds(at place: Int) -> Int64? {
        dispatch.waitsSince(at: place).map { (context.now.monotonic - $0).wholeMilliseconds }
    }

    /// The reports of the first hundred effects by ID, and how many others there are.
    private func effectReports() -> ([StatusReport.EffectReport]?, Int?) {
        let all = dispatch.progress(journaled.effects)
        if all.isEmpty { return (nil, nil) }
        let named = all.prefix(100).map { report, session in
            StatusReport.EffectReport(
                report, feedback: journaled.feedbackName(of: report.effect), session: session)
        }
        return (named, all.count > named.count ? all.count - named.count : nil)
    }

    /// The problems that an operator should solve.
    private func warnings() -> [String] {
        var warnings: [String] = []
        if let loss = phase.loss { warnings.append(loss.description) }
        if let vanished = facts.vanished, context.now.monotonic - vanished.time.monotonic < .seconds(3600) {
            warnings.append(vanished.description)
        }
        if let (loss, time) = disbelievedLoss, isRecent(time) {
            warnings.append(
                "A KEY WITHOUT A SESSION HERE SAYS: \(loss); it is not believed, and that peer is refused, the last time at"
                    + " \(time.wall.civilText). If this journal was restored from a backup, "
                    + HistoryLost.remedy(loop: journaled.loop.name, seq: journaled.seq.value, place: "JOURNAL"))
        }
        if let otherLeadersText {
            warnings.append(otherLeadersText)
        } else if let (history, peer, time) = otherHistory, isRecent(time) {
            warnings.append(
                "A REDUCER HAS LED WITH ANOTHER JOURNAL, OF HISTORY \(history): the peer \(peer) was here, went there and came back"
                    + " at \(time.wall.civilText). If two reducers lead, give all reducers of the loop the same --journal"
            )
        }
        if let heldLogWarning { warnings.append(heldLogWarning) }
        if let age = facts.journalLease?.database?.oldestTransaction, age >= Self.longTransaction {
            warnings.append(
                "A TRANSACTION HAS BEEN OPEN FOR \(age.components.seconds / 60) min IN THE JOURNAL'S DATABASE: what is trimmed takes"
                    + " room until it ends (pg_stat_activity says whose it is)")
        }
        if let warning = admission.sessionsWarning(journaled, context) { warnings.append(warning) }
        warnings += serviceWarnings
        if let clockWarning { warnings.append(clockWarning) }
        if let (count, max) = facts.connections, count > max - max / 10 {
            warnings.append("\(count) OF \(max) CONNECTIONS ARE OPEN: for one more, a silent one is ended")
        }
        if setting.isOpenToAll {
            warnings.append("OPEN TO ALL: other machines can reach this reducer, and it has no keys (--insecure)")
        }
        if let newest = journaled.quarantine.keys.max(), let record = journaled.quarantine[newest] {
            let count = journaled.quarantine.count == 1 ? "1 EVENT IS" : "\(journaled.quarantine.count) EVENTS ARE"
            warnings.append(
                "\(count) QUARANTINED: the newest, \(record.text), ended the reducer \(record.crashes) times in \(record.phase); see:"
                    + " loopctl quarantine list")
        }
        return warnings
    }

    /// Whether a problem that a peer has shown once is still reported. After ten minutes it may be over.
    private func isRecent(_ time: Moment) -> Bool { context.now.monotonic - time.monotonic < .seconds(600) }

    /// The first hundred parked effects by ID, and how many others there are.
    private func parked() -> ([StatusReport.Parked], Int?) {
        let parked = journaled.parked
        let named = parked.prefix(100).map { id, effect, message in
            StatusReport.Parked(
                effect: id, feedback: journaled.feedbackName(of: id), failures: Int(effect.failures),
                message: String(message.prefix(4096)))
        }
        return (named, parked.count > named.count ? parked.count - named.count : nil)
    }
}

extension StatusReport {
    /// Leaves out the effect reports, then half of the peers and parked effects, then the progress, then the feedbacks.
    /// - Returns: whether there was something to leave out.
    fileprivate mutating func cut() -> Bool {
        if let reports = effectReports {
            effectReports = nil
            effectReportsLeftOut = (effectReportsLeftOut ?? 0) + reports.count
            return true
        }
        if !peers.isEmpty || !parked.isEmpty {
            let (peersCut, parkedCut) = ((peers.count + 1) / 2, (parked.count + 1) / 2)
            peers.removeLast(peersCut)
            parked.removeLast(parkedCut)
            if peersCut > 0 { peersLeftOut = (peersLeftOut ?? 0) + peersCut }
            if parkedCut > 0 { parkedLeftOut = (parkedLeftOut ?? 0) + parkedCut }
            return true
        }
        // A definition's progress and feedbacks have no bound.
        guard progress != nil || !feedbacks.isEmpty else { return false }
        if progress != nil { progress = nil } else { feedbacks = [] }
        return true
    }
}

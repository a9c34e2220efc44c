import LoopCore
import LoopWire

/// What a reducer says about itself.
extension ReducerCore {
    mutating func statusDocument() -> [UInt8] {
        (try? core.loop.coder.encode(status())) ?? []
    }

    /// A report as of this turn; it leaves only with the turn's receipt, so that an answer is a commit (G14).
    func status() -> StatusReport {
        var report = StatusReport(loop: core.loop.name, schema: core.loop.schema)
        report.history = core.history.description
        report.epoch = core.epoch.number
        report.seq = core.seq.value
        report.uptimeMilliseconds = (now.monotonic - startedAt).wholeNanoseconds / 1_000_000
        report.eventsPerSecond = rate.perSecond(core.seq, at: now.monotonic)
        report.notReadyBecause = outcome == nil ? loss?.description : "the loop has ended"
        report.isReady = report.notReadyBecause == nil
        report.progress = core.fold.progress
        report.exitCode = outcome?.exitCode
        // A report is one message: of very many peers it names the oldest.
        report.peers = members.keys.sorted().prefix(1000).compactMap(peerStatus)
        report.feedbacks = feedbackCounts()
        report.parked = parked()
        report.quarantined = core.quarantine.count
        report.warnings = warnings()
        for counter in Counter.allCases { report.counters[counter.rawValue] = counters[counter] ?? 0 }
        return report
    }

    private func peerStatus(_ session: SessionID) -> StatusReport.Peer? {
        guard let member = members[session] else { return nil }
        var peer = StatusReport.Peer(
            name: member.name, peer: member.peer, session: session, groups: member.groups, capacity: member.capacity)
        peer.leases = member.holding.count
        peer.leaseMilliseconds = (member.leaseEnds - now.monotonic).wholeNanoseconds / 1_000_000
        peer.lag = member.number - member.applied
        peer.completed = member.completedCount
        peer.watermark = core.sessions[session]?.watermark ?? 0
        return peer
    }

    private func feedbackCounts() -> [StatusReport.FeedbackCounts] {
        var counts = core.loop.feedbacks.map { StatusReport.FeedbackCounts(name: $0.name) }
        var positions: [UInt32: Int] = [:]
        for (position, number) in core.table.numbers.enumerated() { positions[number] = position }
        for (place, id) in core.effects.places {
            guard let feedback = positions[id.feedback] else { continue }
            switch core.effects[at: place].status {
            case .open where owners[place] != nil: counts[feedback].running += 1
            case .open: counts[feedback].waiting += 1
            case .completed: counts[feedback].completed += 1
            case .parked: counts[feedback].parked += 1
            }
        }
        return counts
    }

    /// What somebody should do something about.
    private func warnings() -> [String] {
        var warnings: [String] = []
        if let loss { warnings.append(loss.description) }
        if let newest = core.quarantine.keys.max(), let record = core.quarantine[newest] {
            let count = core.quarantine.count == 1 ? "1 EVENT IS" : "\(core.quarantine.count) EVENTS ARE"
            warnings.append(
                "\(count) QUARANTINED: the newest ended the reducer \(record.crashes) times in \(record.phase); see:"
                    + " loopctl quarantine list")
        }
        return warnings
    }

    /// The first hundred by name.
    private func parked() -> [StatusReport.Parked] {
        let parked = core.effects.compactMap { id, effect -> StatusReport.Parked? in
            guard case .parked(let message) = effect.status else { return nil }
            return StatusReport.Parked(
                effect: id, feedback: core.feedbackName(of: id), failures: Int(effect.failures),
                message: message)
        }
        return Array(parked.sorted { $0.effect < $1.effect }.prefix(100))
    }
}

/// Events per second over the last few ticks.
struct EventRate: Sendable {
    private var samples: [(seq: Seq, time: MonotonicTime)] = []

    mutating func sample(_ seq: Seq, at time: MonotonicTime) {
        samples.append((seq, time))
        if samples.count > 8 { samples.removeFirst() }
    }

    func perSecond(_ seq: Seq, at now: MonotonicTime) -> Double {
        guard let first = samples.first, now > first.time else { return 0 }
        return Double(seq.value - first.seq.value) / (now - first.time).inSeconds
    }
}

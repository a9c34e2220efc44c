// Checks of the run itself.
extension Check {
    /// A replay of the journal results in the state that the reducer reported last.
    static let theReplayIsTheSame = Check(name: "the replay is the same") { evidence in
        guard let replay = evidence.replay else { return [] }
        var found: [String] = []
        if !replay.verify.isSuccess { found.append("verify ended with \(replay.verify): \(replay.verifyText)") }
        if evidence.stateJSON.isEmpty {
            found.append("the reducer told no final state")
        } else if replay.stateJSON != evidence.stateJSON {
            let place = zip(replay.stateJSON, evidence.stateJSON).prefix { $0 == $1 }.count
            let (replayed, told) = (replay.stateJSON.dropFirst(place), evidence.stateJSON.dropFirst(place))
            found.append(
                "the states differ from character \(place) on: replayed \(replayed.prefix(80)), told \(told.prefix(80))"
            )
        }
        return found
    }

    /// The duration from which on a run must cause refusals. Few stalls outlast the silence limit and meet a worker with effects, and
    /// in half a minute there may be none.
    static let refusalsFrom = Duration.seconds(180)

    /// Every kind of fault took effect, and the refusals that a long run must cause occurred.
    static let everyKindOfFault = Check(name: "every kind of fault") { evidence in
        var found: [String] = []
        let planned = evidence.schedule.counts
        // One or two faults of the leader may come while no reducer leads.
        let least = evidence.schedule.servers > 0 ? 3 : 1
        for kind in FaultKind.allCases where planned[kind] ?? 0 >= least {
            if kind.needsNetwork && !evidence.notRun.isEmpty { continue }
            if evidence.felt[kind] ?? 0 == 0 { found.append("no '\(kind.rawValue)' was felt") }
        }
        // Several reducers are reached directly, so their peers are rarely late enough.
        guard evidence.database == nil, evidence.schedule.duration >= refusalsFrom else { return found }
        for counter in ["refusedStale", "refusedAttempt"] where evidence.counters[counter] ?? 0 == 0 {
            found.append("the reducer counted no \(counter)")
        }
        return found
    }

    /// Effects were granted to every worker, in whatever language it is written.
    static let everyWorkerWorks = Check(name: "every worker works") { evidence in
        (1...evidence.schedule.workers).map { Target.worker($0).description }
            .filter { !evidence.working.contains($0) }
            .map { "\($0) never held an effect" }
    }

    static let processesDoAsTold = Check(name: "processes do as they are told") { $0.unexpected }

    /// No process reports a mistake, a trap or damage. No bytes arrive that are not of the protocol, whatever is cut.
    static let nobodyComplains = Check(name: "nobody complains") { evidence in
        var found = evidence.complaints
        if let count = evidence.counters["malformedFrame"], count > 0 {
            found.append("the reducer dropped \(count) frames that were none of the protocol's")
        }
        return found
    }

    static let nothingIsLeft = Check(name: "nothing is left") { $0.leftovers }

    /// If all parts must run, one that could not is a violation.
    static let allParts = Check(name: "everything was run") { $0.mustRunAll ? $0.notRun : [] }
}

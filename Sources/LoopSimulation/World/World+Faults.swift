import LoopCore

/// The faults of a run.
extension World {
    /// Draws the next fault with a separate generator, so that leaving it out does not change the others.
    func drawFault() throws(Violation) {
        let number = tally.faultsDrawn
        tally.faultsDrawn += 1
        var dice = scenario.dice(of: number)
        _ = dice.next()
        let kind = plan.drawFault(&dice)
        let share = dice.fraction()
        guard !scenario.withoutFaults.contains(number) else { return }
        let alive = roster.living.filter { $0.role != .local }
        guard !alive.isEmpty else { return }
        let peer = alive[min(Int(share * Double(alive.count)), alive.count - 1)]
        let candidate = candidateForFault(&dice)
        say("fault \(number): \(kind) at peer \(peer.index)")
        if try at(candidate).fault(kind, peer, &dice) { tally.faultCounts[kind, default: 0] += 1 }
    }

    /// The process of the reducer that a fault hits. Most faults of processes hit the leader.
    private func candidateForFault(_ dice: inout SeededRandom) -> Candidate<Ran> {
        if candidates.count == 1 { return candidates[0] }
        if dice.fraction() < 0.7, let leader { return leader }
        return candidates[Int.random(in: candidates.indices, using: &dice)]
    }

    func stall() -> UInt64 {
        now + ([0, 300, 2000, 6000].randomElement(using: &random) ?? 0) * 1_000_000
    }

    /// From now on nothing fails, and everything must settle.
    func endFaults() throws(Violation) {
        say("the faults end")
        for candidate in candidates {
            candidate.process.frozenUntil = 0
            candidate.process.endsAgainAt = .max
            candidate.process.trap.endsAtNext = false
            candidate.cutUntil = 0
            at(candidate).wake(at: now)
        }
        storage.awayUntil = 0
        confirm()
        storage.awaitedLoss = nil
        storage.faults.heal()
        for peer in roster.present {
            // The number of a forged batch is not used again before its owner learns of it.
            peer.life.frozenUntil = peer.life.forgedUntil
            peer.faults.forgetsClaims = false
            peer.heal()
            at(peer).wake(at: now)
        }
        restoreKeys()
        if plan.isUnguarded { latecomer = try addPeer(.worker, 0) }
    }
}

import LoopCore
import LoopWire

/// After a restart: effects that run somewhere, or may. (Protocol, section 7.)
extension ReducerCore {
    /// Live effects of the epoch before wait for the workers that run them. The process that ran the local ones is gone: nobody
    /// can claim those.
    mutating func awaitClaims(of effects: Set<EffectID>) {
        let local = effects.filter { core.table.group($0.feedback) == localGroup }
        unclaimed = effects.subtracting(local)
        awaited = Set(core.sessions.lazy.filter { $0.value.peer != .local }.map(\.key))
        graceEnds = now.monotonic + configuration.silenceLimit
        grantAnew(local)
    }

    /// Effects that nobody claimed in time are given to others.
    mutating func endGrace() {
        guard !unclaimed.isEmpty, awaited.isEmpty || now.monotonic >= graceEnds else { return }
        grantAnew(unclaimed)
        unclaimed.removeAll()
    }

    /// Voids the attempts of earlier epochs, by record.
    private mutating func grantAnew(_ effects: Set<EffectID>) {
        for effect in effects.sorted() {
            guard let live = core.effects[effect] else { continue }
            let upTo = JournaledCore.allAttempts(before: core.epoch)
            if breaks(.voidsAreDurable) {
                core.voidWithoutRecord(effect, upTo: upTo)
            } else {
                write(
                    .attemptEnded(
                        AttemptEnd(
                            effect: effect, upTo: upTo, cause: .unclaimed, next: .retry(live.retryAt ?? now.wall))))
            }
            schedule(effect)
        }
    }
}

import LoopCore
import LoopWire

/// The attempts that one peer was sent in one epoch, by numbered messages. A new attempt must have an unused number.
struct ToldAttempts: Sendable {
    /// The version of the newest request of each attempt.
    private var attempts: [Attempt: Seq] = [:]
    private var number: UInt64 = 0
    /// The assignment whose parts are being sent.
    private var assignment: UInt64?

    mutating func note(_ number: UInt64, _ commands: CommandRun) {
        self.number = max(self.number, number)
        for command in commands {
            switch command {
            case .start(let grant): attempts[grant.attempt] = grant.version
            case .update(_, let attempt, let version, _): attempts[attempt] = version
            case .cancel: break
            }
        }
    }

    /// - Returns: an attempt that is new in the part, or has a newer request, although its number was used before.
    mutating func note(_ part: Assignments) -> Attempt? {
        // The first assignment answers the claim, and contains what the peer itself has named.
        let mayBringMore = assignment == nil || part.number > number || part.part > 0 && part.number == assignment
        let new = part.grants.filter { grant in attempts[grant.attempt].map { $0 < grant.version } ?? true }
        for grant in part.grants { attempts[grant.attempt] = grant.version }
        number = max(number, part.number)
        assignment = part.number
        return mayBringMore ? nil : new.first?.attempt
    }
}

import LoopCluster
import LoopCore
import LoopWire

/// What one peer was told to run in one epoch, by numbered messages: what is new has a number that was not used before.
struct ToldAttempts: Sendable {
    private var attempts: Set<Attempt> = []
    private var number: UInt64 = 0
    /// The assignment whose parts are being told.
    private var assignment: UInt64?

    mutating func note(_ number: UInt64, _ commands: CommandRun) {
        self.number = max(self.number, number)
        for case .start(let grant) in commands { attempts.insert(grant.attempt) }
    }

    /// - Returns: an attempt that is new in it, though its number is not.
    mutating func note(_ part: Assignments) -> Attempt? {
        // The first one answers the claim: it holds what the peer itself has named.
        let mayBringMore = assignment == nil || part.number > number || part.part > 0 && part.number == assignment
        let new = part.grants.map(\.attempt).filter { !attempts.contains($0) }
        attempts.formUnion(new)
        number = max(number, part.number)
        assignment = part.number
        return mayBringMore ? nil : new.first
    }
}

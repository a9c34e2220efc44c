import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `The attempts that a peer holds` {
    private let rules = BrokenRules()
    private var attempts = HeldAttempts()

    private func effect(_ index: UInt32) -> EffectID { EffectID(feedback: 0, seq: Seq(1), index: index) }

    private func grant(_ index: UInt32, attempt: Int = 1, version: UInt64 = 1) -> Grant {
        Grant(
            effect: effect(index), attempt: Attempt(epoch: 1, count: UInt64(attempt)), version: Seq(version),
            failures: 0,
            isResumed: false, request: [UInt8(version)])
    }

    private mutating func command(
        _ commands: CommandRun, _ start: HeldAttempts.Start = .run, breaking broken: [Rule] = []
    ) -> [PeerAction] {
        var actions: [PeerAction] = []
        attempts.apply(commands, start, BrokenRules(broken), &actions)
        return actions
    }

    private mutating func assign(_ grants: [Grant], isFirst: Bool = false) -> [PeerAction] {
        var actions: [PeerAction] = []
        attempts.apply(grants, isFirst: isFirst, .run, rules, &actions)
        return actions
    }

    /// The outcome of an entry is known.
    private mutating func settle(_ entry: Entry, _ outcome: EntryOutcome = .applied(Seq(1))) -> [PeerAction] {
        var actions: [PeerAction] = []
        let run: EntryRun = [entry]
        attempts.settle(run.head(at: run.startIndex), outcome, &actions)
        return actions
    }

    private mutating func claimed(breaking broken: [Rule] = []) -> [EffectID] {
        attempts.nextClaim(bytesMax: .max, BrokenRules(broken)).flatMap(\.attempts).map(\.effect)
    }

    private func stop(_ grant: Grant) -> PeerAction { .stop(grant.effect, grant.attempt) }

    private func completed(_ grant: Grant) -> Entry {
        Entry(kind: .completed, effect: grant.effect, attempt: grant.attempt)
    }

    // MARK: Starts

    @Test mutating func `start once, and a newer attempt takes the place of an older one`() {
        #expect(command([.start(grant(0)), .start(grant(0))]) == [.run(grant(0))])
        #expect(command([.start(grant(0, attempt: 2))]) == [stop(grant(0)), .run(grant(0, attempt: 2))])
        #expect(command([.start(grant(0))]) == [])
        #expect(attempts.runs(effect(0), Attempt(epoch: 1, count: 2)))
    }

    @Test mutating func `are held without a body where the process is to stop, and not at all after the end`() {
        #expect(command([.start(grant(0))], .handBack) == [])
        #expect(command([.start(grant(1))], .ignore) == [])
        #expect(attempts.inOrder.map(\.effect) == [effect(0)])
    }

    @Test mutating func `do not start again where they have ended, until that is settled`() {
        _ = command([.start(grant(0))])
        attempts.end(effect(0), grant(0).attempt)
        #expect(command([.start(grant(0))]) == [])
        var broken = self
        #expect(
            broken.command([.start(grant(0))], breaking: [.finishedAttemptsAreRemembered]) == [.run(grant(0))])
        #expect(settle(completed(grant(0))) == [])
        #expect(command([.start(grant(0))]) == [.run(grant(0))])
    }

    // MARK: Updates and cancellations

    @Test mutating func `are updated by newer requests of their attempt`() {
        _ = command([.start(grant(0, version: 2))])
        func update(_ attempt: UInt64, _ version: UInt64) -> CommandRun {
            [.update(effect(0), Attempt(epoch: 1, count: attempt), version: Seq(version), request: [7])]
        }
        #expect(command(update(1, 2)) == [])
        #expect(command(update(2, 3)) == [])
        let updated = PeerAction.update(effect(0), Attempt(epoch: 1, count: 1), request: [7])
        #expect(command(update(1, 3)) == [updated])
        #expect(command(update(1, 3)) == [])
        #expect(command(update(1, 3), breaking: [.updatesAreNewer]) == [updated])
    }

    @Test mutating func `are cancelled up to an attempt`() {
        _ = command([.start(grant(0, attempt: 2))])
        #expect(command([.cancel(effect(0), Attempt(epoch: 1, count: 1))]) == [])
        #expect(command([.cancel(effect(0), Attempt(epoch: 1, count: 2))]) == [stop(grant(0, attempt: 2))])
    }

    @Test mutating func `are all cancelled in the order of their effects`() {
        _ = command([.start(grant(2)), .start(grant(0)), .start(grant(1))])
        attempts.end(effect(1), grant(1).attempt)
        var (ended, lost) = (attempts, attempts)
        var actions: [PeerAction] = []
        ended.cancelAll(&actions)
        lost.loseSession(&actions)
        #expect(actions == [stop(grant(0)), stop(grant(2)), stop(grant(0)), stop(grant(2))])
        #expect(ended.nextClaim(bytesMax: .max, rules).flatMap(\.attempts).map(\.effect) == [effect(1)])
        #expect(lost.nextClaim(bytesMax: .max, rules).flatMap(\.attempts) == [])
    }

    // MARK: Assignments

    @Test mutating func `become those of an assignment`() {
        _ = command([.start(grant(0)), .start(grant(1)), .start(grant(2))])
        let other = grant(1, attempt: 2)
        #expect(
            assign([grant(3), other, grant(2, version: 4)]) == [
                stop(grant(0)), stop(grant(1)), .run(grant(3)), .run(other),
                .update(effect(2), grant(2).attempt, request: [4]),
            ])
        #expect(attempts.inOrder.map(\.effect) == [effect(1), effect(2), effect(3)])
    }

    @Test mutating func `have the request of an epoch's first assignment, even an older one`() {
        _ = command([.start(grant(0, version: 5))])
        #expect(assign([grant(0, version: 4)]) == [])
        #expect(
            assign([grant(0, version: 4)], isFirst: true) == [.update(effect(0), grant(0).attempt, request: [4])])
    }

    // MARK: Entries

    @Test mutating func `end with a refusal for the attempt, and with no other`() {
        _ = command([.start(grant(0))])
        let event = Entry(kind: .event, effect: effect(0), attempt: grant(0).attempt)
        #expect(settle(event) == [])
        #expect(settle(event, .refused(.undecodable)) == [])
        #expect(settle(Entry(kind: .event), .refused(.stale)) == [])
        #expect(settle(event, .refused(.attempt)) == [stop(grant(0))])
        #expect(settle(event, .refused(.attempt)) == [])
    }

    @Test mutating func `are claimed while they run or have entries in the outbox`() {
        _ = command([.start(grant(2)), .start(grant(1)), .start(grant(0))])
        attempts.end(effect(1), grant(1).attempt)
        #expect(claimed() == [effect(0), effect(1), effect(2)])
        #expect(claimed(breaking: [.claimsIncludeTheOutbox]) == [effect(0), effect(2)])
        _ = settle(completed(grant(1)))
        #expect(claimed() == [effect(0), effect(2)])
    }

    @Test mutating func `are claimed in parts, each claim under its own number`() {
        _ = command([.start(grant(0)), .start(grant(1))])
        let first = attempts.nextClaim(bytesMax: 1, rules)
        #expect(first.map(\.number) == [1, 1] && first.map(\.part) == [0, 1])
        #expect(attempts.nextClaim(bytesMax: 1, BrokenRules([.messagesComeInParts])).map(\.number) == [2])
    }
}

import LoopCluster
import LoopCore
import LoopKeys
import LoopSimulation
import LoopWire
import Testing

/// A reducer with two keys, as its checker sees it: `own` has opened session 1, and `other` has none.
private struct Watched {
    private(set) var checkers: Checkers<SlotWorkload>
    let own: PublicKey
    let other: PublicKey
    private let history = History(1)
    private let peer = PeerID(high: 1, low: 1)

    init() throws {
        own = try #require(PublicKey(bytes: [UInt8](repeating: 1, count: 32)))
        other = try #require(PublicKey(bytes: [UInt8](repeating: 2, count: 32)))
        let plan = SimulationPlan.drawn(Scenario(seed: 1), .own).0
        checkers = Checkers(SlotWorkload(plan: plan), hasShadow: false, breaking: BrokenRules())
        try checkers.observe(.began(history))
        try journal(.epochBegun(Self.epoch(1), WallTime(milliseconds: 1)))
        try beginTurn(in: 1)
        try admit(
            AllowedKey(own, name: "own", roles: [.sender, .worker], groups: .all),
            AllowedKey(other, name: "other", roles: [.sender]))
        try journal(.sessionOpened(SessionID(1), peer))
    }

    static func epoch(_ number: UInt64) -> Epoch { Epoch(number: number, nonce: number) }

    /// From here on these keys are admitted.
    mutating func admit(_ keys: AllowedKey...) throws { try checkers.observe(.keysAdmitted(AllowedKeys(keys))) }

    mutating func journal(_ record: Record) throws { try checkers.journal(history, record) }

    mutating func observe(_ observation: Observation) throws { try checkers.observe(observation) }

    mutating func beginTurn(in epoch: UInt64) throws { try checkers.observe(.turnBegan(progress(epoch: epoch))) }

    /// A key asks for the assignments of session 1.
    /// - Parameters:
    ///   - epoch: which it names.
    ///   - refusals: how often it is refused.
    ///   - records: how many records that makes.
    mutating func ask(_ key: PublicKey, in epoch: UInt64 = 1, refusals: UInt64, records: UInt64 = 0) throws {
        try checkers.observe(
            .judged(
                .message(.assignmentsRequest(SessionID(1), Self.epoch(epoch))), by: .key(key), from: progress(),
                to: progress(position: records, refusals: refusals)))
    }

    /// The peer of session 1 joins with a key, and is let in.
    mutating func join(_ key: PublicKey, in session: UInt64, of epoch: UInt64, for groups: [String]) throws {
        let joinRequest = JoinRequest(
            peer: peer, session: SessionID(session), history: .none, epoch: .none, watermark: 0, schema: 1,
            fingerprint: 1, capacity: 1, groups: groups, name: "worker")
        let progress = progress(epoch: epoch)
        try checkers.observe(.judged(.message(.join(joinRequest)), by: .key(key), from: progress, to: progress))
    }

    /// The record of a newer session of the peer.
    mutating func open(_ session: UInt64, of key: PublicKey) throws {
        try journal(.sessionOpened(SessionID(session), peer))
        try journal(.sessionOwned(SessionID(session), key))
    }

    private func progress(epoch: UInt64 = 1, position: UInt64 = 0, refusals: UInt64 = 0) -> TurnProgress {
        TurnProgress(
            history: history, epoch: Self.epoch(epoch), position: position, messageCount: 0, refusalCount: refusals,
            isLost: false)
    }
}

@Suite struct `The checker of keys` {
    @Test func `sees that a key speaks for another key's session`() throws {
        var watched = try Watched()
        try watched.journal(.sessionOwned(SessionID(1), watched.own))
        try watched.ask(watched.own, refusals: 0)
        try watched.ask(watched.other, refusals: 1)
        let violation = #expect(throws: Violation.self) { try watched.ask(watched.other, refusals: 0) }
        #expect(violation?.promise == .onlyWhoMay)
    }

    @Test func `sees that a key is refused what it may`() throws {
        var watched = try Watched()
        try watched.journal(.sessionOwned(SessionID(1), watched.own))
        let violation = #expect(throws: Violation.self) { try watched.ask(watched.own, refusals: 1) }
        #expect(violation?.promise == .onlyWhoMay)
    }

    @Test func `sees that what was refused has an effect`() throws {
        var watched = try Watched()
        try watched.journal(.sessionOwned(SessionID(1), watched.own))
        let violation = #expect(throws: Violation.self) { try watched.ask(watched.other, refusals: 1, records: 1) }
        #expect(violation?.promise == .onlyWhoMay)
    }

    /// Seed 63 of `keys`: the record of the new epoch is not durable in its first turn, and what was said in the epoch before is
    /// passed over.
    @Test func `knows an epoch from its first turn on`() throws {
        var watched = try Watched()
        try watched.journal(.sessionOwned(SessionID(1), watched.own))
        try watched.beginTurn(in: 2)
        try watched.ask(watched.other, in: 1, refusals: 0)
        try watched.ask(watched.other, in: 2, refusals: 1)
    }

    /// Seed 505: the process ended when the session's record was written, and that of its key was not.
    @Test func `lets no key speak for a session without a key`() throws {
        var watched = try Watched()
        try watched.ask(watched.own, refusals: 1)
        #expect(throws: Violation.self) { try watched.ask(watched.own, refusals: 0) }
    }

    @Test func `sees that a session goes on whose key was removed`() throws {
        var watched = try Watched()
        try watched.journal(.sessionOwned(SessionID(1), watched.own))
        try watched.admit()
        #expect(throws: Violation.self) { try watched.observe(.turnEnded) }
        try watched.journal(.sessionRetired(SessionID(1)))
        try watched.observe(.turnEnded)
    }
    @Test func `sees that a session goes on whose key lost its groups`() throws {
        var watched = try Watched()
        try watched.journal(.sessionOwned(SessionID(1), watched.own))
        try watched.join(watched.own, in: 1, of: 1, for: ["default"])
        try watched.admit(AllowedKey(watched.own, name: "own", roles: [.worker], groups: .named(["elsewhere"])))
        #expect(throws: Violation.self) { try watched.observe(.turnEnded) }
    }

    /// Seed 53157: a peer that remembered an ended session was given a new one, which ended too. Its first session served no
    /// groups in this epoch.
    @Test func `does not give a session the groups of a newer one that has ended`() throws {
        var watched = try Watched()
        try watched.journal(.sessionOwned(SessionID(1), watched.own))
        try watched.journal(.epochBegun(Watched.epoch(2), WallTime(milliseconds: 2)))
        try watched.beginTurn(in: 2)
        try watched.join(watched.own, in: 7, of: 2, for: ["default"])
        try watched.open(8, of: watched.own)
        try watched.journal(.sessionRetired(SessionID(8)))
        try watched.admit(AllowedKey(watched.own, name: "own", roles: [.worker], groups: .named(["elsewhere"])))
        try watched.observe(.turnEnded)
    }
}

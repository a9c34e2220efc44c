import LoopCluster
import LoopCore
import LoopKeys
import LoopWire
import Testing

/// What a key has, and what becomes of it when the key may do less.
@Suite struct `G12 what a key has` {
    private static let video = AllowedKey(
        GuardedBench.key(1), name: "w", roles: [.worker], groups: .named(["video"]))

    /// A worker runs two lamps, and a sender has lit them.
    private func burning() throws -> (guarded: GuardedBench, worker: SessionID, sender: SessionID, grants: [Grant]) {
        var guarded = try GuardedBench()
        let worker = guarded.join(alice, by: guarded.worker, capacity: 4)
        let sender = guarded.join(client, by: guarded.sender)
        let lights = [try guarded.bench.event(.light("a", 1)), try guarded.bench.event(.light("b", 1))]
        let grants = guarded.bench.push(guarded.bench.batch(sender, from: 1, lights), by: .key(guarded.sender)).grants
        #expect(grants.count == 2)
        return (guarded, worker, sender, grants)
    }

    private func claims(_ grants: some Sequence<Grant>) -> [ClaimedAttempt] {
        grants.map { ClaimedAttempt(effect: $0.effect, attempt: $0.attempt) }
    }

    // MARK: Inboxes

    /// The other key named a session of some other history, and was given one for the peer's ID: the inbox was its own then.
    @Test func `an inbox does not become another key's that joins as its peer`() throws {
        var (guarded, session, _, _) = try burning()
        let (worker, sender, epoch) = (guarded.worker, guarded.sender, guarded.bench.machine.epoch)
        let gone = guarded.join(bob, by: sender)
        _ = guarded.bench.say(.goodbye(gone, bob, ReducerBench.history), from: bob, by: .key(sender))
        for (history, named) in [(History(77), SessionID(5)), (ReducerBench.history, gone)] {
            var request = ReducerBench.joinRequest(alice, capacity: 0)
            (request.history, request.session, request.epoch) = (history, named, epoch)
            #expect(
                guarded.refusal(of: .join(request), from: bob, by: .key(sender))
                    == Refused(.session, reducer: "\"s\"", peer: "\(session)"))
        }
        var mayFollow = (owner: false, other: true)
        guarded.bench.turn {
            let inbox = Topic.inbox(LoopID(name: Lamps.name), alice)
            mayFollow = ($0.mayFollow(inbox, .key(worker)), $0.mayFollow(inbox, .key(sender)))
        }
        #expect(mayFollow == (true, false))
    }

    /// A peer that has been at another history gets a second session, and the first one lives on.
    @Test func `an inbox stays that of an older session's key when the newest session has ended`() throws {
        var (guarded, session, _, _) = try burning()
        let (worker, sender, epoch) = (guarded.worker, guarded.sender, guarded.bench.machine.epoch)
        var elsewhere = ReducerBench.joinRequest(alice, capacity: 0)
        (elsewhere.history, elsewhere.session, elsewhere.epoch) = (History(77), SessionID(5), epoch)
        _ = guarded.bench.say(.join(elsewhere), from: alice, by: .key(worker))
        let second = try #require(guarded.bench.machine.journaled.sessionByPeer[alice])
        #expect(second > session)
        _ = guarded.bench.say(.goodbye(second, alice, ReducerBench.history), from: alice, by: .key(worker))
        #expect(guarded.bench.machine.journaled.sessions[session] != nil)

        var again = try GuardedBench(replaying: guarded.bench.records)
        for request in [ReducerBench.joinRequest(alice, capacity: 0), elsewhere] {
            for restarted in [false, true] {
                let refused = Refused(.session, reducer: "\"s\"", peer: "\(session)")
                let told =
                    restarted
                    ? again.refusal(of: .join(request), from: bob, by: .key(sender))
                    : guarded.refusal(of: .join(request), from: bob, by: .key(sender))
                #expect(told == refused)
            }
        }
        var mayFollow = (owner: false, other: true)
        guarded.bench.turn {
            let inbox = Topic.inbox(LoopID(name: Lamps.name), alice)
            mayFollow = ($0.mayFollow(inbox, .key(worker)), $0.mayFollow(inbox, .key(sender)))
        }
        #expect(mayFollow == (true, false))
    }

    // MARK: Claims

    @Test func `a claim gives no effect to a peer that serves none`() throws {
        let (before, _, _, grants) = try burning()
        var guarded = try GuardedBench(replaying: before.bench.records)
        let (worker, sender) = (guarded.worker, guarded.sender)
        let thief = guarded.join(bob, by: sender, claiming: claims(grants))
        #expect(guarded.assignments(of: thief, bob, by: sender) == [])
        let rightful = guarded.join(alice, by: worker, capacity: 4, claiming: claims(grants))
        #expect(guarded.assignments(of: rightful, alice, by: worker) == claims(grants))
    }

    @Test func `a claim gives no effect of a group that its key is not for any more`() throws {
        let (before, _, _, grants) = try burning()
        var guarded = try GuardedBench(replaying: before.bench.records)
        let worker = guarded.worker
        let less = AllowedKeys(guarded.without(worker).keys.values + [Self.video])
        guarded.bench.turn { $0.admit(less) }
        let session = guarded.join(alice, by: worker, capacity: 4, groups: ["video"], claiming: claims(grants))
        #expect(session != .none)
        #expect(guarded.assignments(of: session, alice, by: worker) == [])
    }

    @Test func `a claim of a peer without groups gives it nothing without keys either`() throws {
        var before = try ReducerBench()
        before.join(alice)
        let sender = before.join(client, capacity: 0)
        let grants = try before.send(sender, from: 1, .light("a", 1)).grants
        var bench = try ReducerBench(replaying: before.records)
        let thief = bench.join(bob, capacity: 0, claiming: claims(grants))
        let told = bench.say(.assignmentsRequest(thief, bench.machine.epoch), from: bob).messages(to: bob)
        #expect(told.assigned == [])
    }

    /// The floor of the effect would be above every later attempt, and so no worker could ever be granted it again.
    @Test func `a claim of an attempt that no earlier epoch can have granted is none`() throws {
        let (before, _, _, grants) = try burning()
        for epoch in [2, 3, UInt64.max] {
            var guarded = try GuardedBench(replaying: before.bench.records)
            let worker = guarded.worker
            let claim = ClaimedAttempt(effect: grants[0].effect, attempt: Attempt(epoch: epoch, count: .max))
            let session = guarded.join(alice, by: worker, capacity: 4, claiming: [claim])
            #expect(guarded.assignments(of: session, alice, by: worker) == [], "\(epoch)")
        }
    }

    // MARK: Revocation

    @Test func `a key that is removed while its claim arrives in parts keeps nothing of it`() throws {
        let (before, _, _, grants) = try burning()
        var guarded = try GuardedBench(replaying: before.bench.records)
        let (worker, epoch) = (guarded.worker, guarded.bench.machine.epoch)
        _ = guarded.bench.say(.join(ReducerBench.joinRequest(alice)), from: alice, by: .key(worker))
        let session = try #require(guarded.bench.machine.journaled.sessionByPeer[alice])
        func part(_ part: UInt32) -> ToReducer {
            .claim(session, epoch, ClaimPart(claims([grants[Int(part)]]), part: part, parts: 2))
        }
        _ = guarded.bench.say(part(0), from: alice, by: .key(worker))
        let left = guarded.without(worker)
        guarded.bench.turn { $0.admit(left) }
        #expect(guarded.refusal(of: part(1), from: alice, by: .key(worker))?.what == .key)
        let all = guarded.allowed
        guarded.bench.turn { $0.admit(all) }
        // What had come counts no more, and the rest of it does not count alone.
        #expect(guarded.refusal(of: part(1), from: alice, by: .key(worker)) == nil)
        let again = guarded.join(bob, by: worker, capacity: 4)
        guarded.bench.wait(for: 4000, again, bob, by: worker)
        let taken = guarded.assignments(of: again, bob, by: worker) ?? []
        #expect(taken.map(\.effect) == grants.map(\.effect))
        #expect(taken.allSatisfy { $0.attempt.epoch == epoch.number })
    }

    @Test func `a session of a key that was removed does not come back with the key`() throws {
        var (guarded, _, session, _) = try burning()
        let (sender, all) = (guarded.sender, guarded.allowed)
        let left = guarded.without(sender)
        let late = guarded.bench.batch(session, from: 3, [try guarded.bench.event(.note)])
        guarded.bench.turn { $0.admit(left) }
        guarded.bench.turn { $0.admit(all) }
        let seq = guarded.bench.machine.seq
        _ = guarded.bench.push(late, by: .key(sender))
        #expect(guarded.bench.machine.seq == seq)
        #expect(guarded.bench.machine.counters[.unknownSession] == 1)
        // It knows what was acknowledged in the old one. That is no sign of a loss: the journal has its end.
        var request = ReducerBench.joinRequest(client, capacity: 0)
        (request.session, request.history) = (session, ReducerBench.history)
        (request.epoch, request.watermark) = (guarded.bench.machine.epoch, 2)
        let told = guarded.bench.say(.join(request), from: client, by: .key(sender))
        #expect(guarded.bench.lost == nil)
        let new = try #require(guarded.bench.machine.journaled.sessionByPeer[client])
        #expect(new > session)
        #expect(
            told.messages(to: client).contains { if case .joinAccepted(0, _, _, _) = $0 { true } else { false } })
    }

    @Test func `what a key has run goes to others when it is no worker's any more`() throws {
        var (guarded, session, _, grants) = try burning()
        let (worker, next) = (guarded.worker, GuardedBench.key(6))
        let demoted = AllowedKey(worker, name: "w", roles: [.observer])
        let other = AllowedKey(next, name: "n", roles: [.worker], groups: .all)
        let keys = AllowedKeys(guarded.without(worker).keys.values + [demoted, other])
        guarded.bench.turn { $0.admit(keys) }
        #expect(guarded.bench.records.last == .sessionRetired(session))
        let granted = guarded.bench.say(.join(ReducerBench.joinRequest(bob)), from: bob, by: .key(next)).grants
        #expect(granted == [])
        let claimed = guarded.bench.say(
            .claim(
                try #require(guarded.bench.machine.journaled.sessionByPeer[bob]), guarded.bench.machine.epoch,
                ClaimPart([])),
            from: bob, by: .key(next))
        #expect(claimed.grants.map(\.effect) == grants.map(\.effect))
        let entry = try guarded.bench.event(.note, of: (grants[0].effect, grants[0].attempt))
        _ = guarded.bench.push(guarded.bench.batch(session, from: 1, [entry]), by: .key(worker))
        #expect(guarded.bench.machine.counters[.notAllowed] == 1)
        #expect(guarded.bench.state.notes == 0)
    }
}

extension GuardedBench {
    /// What a session is told to run when it asks.
    fileprivate mutating func assignments(
        of session: SessionID, _ peer: PeerID, by key: PublicKey
    ) -> [ClaimedAttempt]? {
        bench.say(.assignmentsRequest(session, bench.machine.epoch), from: peer, by: .key(key)).messages(to: peer)
            .assigned
    }
}

extension ReducerBench {
    /// Time passes, in which a worker gives signs of life.
    fileprivate mutating func wait(for milliseconds: Int64, _ session: SessionID, _ peer: PeerID, by key: PublicKey) {
        for _ in 0..<milliseconds / 500 { _ = say(heartbeat(session), from: peer, by: .key(key), after: 500) }
    }
}

extension [ToPeer] {
    /// The attempts that the first assignment among them names, or nil if there is none.
    fileprivate var assigned: [ClaimedAttempt]? {
        compactMap { message -> [ClaimedAttempt]? in
            guard case .assignments(let part) = message else { return nil }
            return part.grants.map { ClaimedAttempt(effect: $0.effect, attempt: $0.attempt) }
        }.first
    }
}

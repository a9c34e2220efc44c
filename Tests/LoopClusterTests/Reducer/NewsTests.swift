import LoopCore
import LoopJournal
import LoopWire
import Testing

@testable import LoopCluster

/// What a reducer's machine tells people, turn by turn.
@Suite struct `News of a reducer` {
    private func peer(_ peer: PeerID, _ session: SessionID, isWorker: Bool = true) -> NewsOfPeer {
        NewsOfPeer(peer: peer, session: session, name: "peer \(peer.low)", isWorker: isWorker)
    }

    private func retrying() throws -> (bench: ReducerBench, worker: SessionID, sender: SessionID) {
        var bench = try ReducerBench(policy: EffectPolicy(retry: .exponential(max: 2, first: .seconds(1))))
        let (worker, sender) = (bench.join(alice, capacity: 100), bench.join(client, capacity: 0))
        bench.news = []
        return (bench, worker, sender)
    }

    private func fail(_ grants: [Grant], _ why: String) -> [Entry] {
        grants.map { grant in
            Entry(
                kind: .failed, effect: grant.effect, attempt: grant.attempt,
                payload: Failure(message: why).bytes[...])
        }
    }

    @Test func `a peer has joined when it has claimed, and has left when its session has ended`() throws {
        var bench = try ReducerBench()
        let worker = bench.requestJoin(alice)
        #expect(bench.news == [])
        _ = bench.say(.claim(worker, bench.machine.epoch, ClaimPart([])), from: alice)
        let sender = bench.join(client, capacity: 0)
        // A claim that is repeated is no news.
        _ = bench.say(.claim(worker, bench.machine.epoch, ClaimPart([])), from: alice)
        #expect(bench.news == [.joined(peer(alice, worker)), .joined(peer(client, sender, isWorker: false))])
        bench.news = []
        for _ in 0..<2 { _ = bench.say(.goodbye(worker, alice, bench.machine.history), from: alice) }
        #expect(bench.news == [.left(peer(alice, worker), .goodbye)])
    }

    @Test func `a worker is lost once, with what it held, and is heard again once`() throws {
        var bench = try ReducerBench()
        let (worker, other) = (bench.join(alice), bench.join(bob))
        let sender = bench.join(client, capacity: 0)
        let grants = try bench.send(sender, from: 1, .light("a", 1), .light("b", 1)).grants
        #expect(grants.count == 2)
        bench.news = []
        // Each holds one of them. The turns are short, so that the reducer does not seem to stand still.
        for _ in 0..<16 {
            _ = bench.say(bench.heartbeat(other), from: bob, after: 250)
            _ = bench.say(bench.heartbeat(sender, capacity: 0), from: client)
        }
        #expect(bench.news == [.lost(peer(alice, worker), effects: 1)])
        bench.news = []
        _ = bench.say(bench.heartbeat(worker), from: alice)
        for _ in 0..<4 { _ = bench.say(bench.heartbeat(other), from: bob, after: 250) }
        guard case .returned(peer(alice, worker), let duration)? = bench.news.first else {
            Issue.record("\(bench.news)")
            return
        }
        #expect(bench.news.count == 1 && duration > .seconds(1) && duration < .seconds(3))
    }

    @Test func `a failure is told with its attempt and reason, and the last one as parked`() throws {
        var (bench, worker, sender) = try retrying()
        let first = try bench.send(sender, from: 1, .light("a", 1)).grants
        let effect = try #require(first.first).effect
        _ = bench.push(bench.batch(worker, from: 1, fail(first, "dark")))
        guard case .effectFailed(let failure, let delay)? = bench.news.first else {
            Issue.record("\(bench.news)")
            return
        }
        #expect(
            failure
                == NewsOfFailure(
                    effect: effect, feedback: "lamps", attempt: Attempt(epoch: 1, count: 1), failures: 1,
                    reason: "dark"))
        #expect(delay > .zero && bench.news.count == 1)
        bench.news = []
        var number: UInt64 = 2
        for _ in 0..<60 where bench.news == [] {
            let grants = bench.say(bench.heartbeat(worker, capacity: 100), from: alice, after: 250).grants
            guard !grants.isEmpty else { continue }
            _ = bench.push(bench.batch(worker, from: number, fail(grants, "darker")))
            number += UInt64(grants.count)
            bench.news.removeAll { if case .effectFailed = $0 { true } else { false } }
        }
        guard case .parked(let last)? = bench.news.last else {
            Issue.record("\(bench.news)")
            return
        }
        #expect(last.effect == effect && last.reason == "darker" && last.failures > 1)
    }

    @Test func `a reader lets the journal's log grow, which is told once and warned of until the reader has ended`()
        throws
    {
        var bench = try ReducerBench()
        func hold(_ byteCount: Int?) {
            var facts = ShellFacts()
            facts.heldLogBytes = byteCount
            bench.turn { $0.notice(facts) }
        }
        hold(10 << 20)
        #expect(bench.machine.status().warnings == [])
        hold(100 << 20)
        let told = bench.machine.status().warnings
        #expect(told.count == 1 && told[0].contains("the log has 100 MiB and grows"), "\(told)")
        hold(200 << 20)
        #expect(bench.news == [.logHeld(100 << 20, told[0])])
        let warnings = bench.machine.status().warnings
        #expect(warnings.count == 1 && warnings[0].contains("the log has 200 MiB and grows"), "\(warnings)")
        hold(nil)
        #expect(bench.machine.status().warnings == [])
    }

    @Test func `nothing is told of a turn in which nothing goes wrong`() throws {
        var (bench, worker, sender) = try retrying()
        let grants = try bench.send(sender, from: 1, .light("a", 1)).grants
        let grant = try #require(grants.first)
        _ = bench.push(
            bench.batch(worker, from: 1, [Entry(kind: .completed, effect: grant.effect, attempt: grant.attempt)]))
        for _ in 0..<8 {
            _ = bench.say(bench.heartbeat(worker), from: alice, after: 250)
            _ = bench.say(bench.heartbeat(sender, capacity: 0), from: client)
        }
        #expect(bench.news == [])
    }

    @Test func `a definition that takes over says from which, and what becomes of the effects`() throws {
        var first = try ReducerBench()
        let sender = first.join(client, capacity: 0)
        _ = try first.send(sender, from: 1, .light("a", 1))
        // As another build has written it.
        let records = first.records.map { record -> Record in
            guard case .definition(var definition) = record else { return record }
            definition.fingerprint ^= 1
            definition.feedbacks = ["lamps"]
            return .definition(definition)
        }
        let journal = try memory(records.filter { if case .event = $0 { false } else { true } })
        let recovery = try Recovery(Lamps(), from: journal, coder: CBORCoder())
        var machine = ReducerMachine(
            recovery, configuration: ReducerConfiguration(), seed: 1, nonce: 8, at: ReducerBench.moment(20_000))
        let ready = machine.turn(at: ReducerBench.moment(20_000))
        let position = ready.position
        let news = machine.release(ready, JournalReceipt(through: position)).news
        let own = DefinitionFingerprint(of: Lamps()).value
        guard case .definitionUpgrade(let upgrade)? = news.first else {
            Issue.record("\(news)")
            return
        }
        #expect(upgrade.fingerprintBefore == own ^ 1 && upgrade.fingerprint == own)
        #expect((upgrade.schemaBefore, upgrade.schema) == (2, 2))
        #expect((upgrade.cancelled, upgrade.started, upgrade.updated) == (0, 0, 0))
        #expect(news.count == 1)
    }

    private func memory(_ records: [Record]) throws -> MemoryJournal {
        var journal = try MemoryRecords { ReducerBench.history }.open()
        _ = try journal.append(records, through: UInt64(records.count))
        return journal
    }
}

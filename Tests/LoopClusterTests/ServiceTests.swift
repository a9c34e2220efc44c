import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

/// Which effects a worker is granted, and what people are told of effects that no worker serves.
@Suite struct `A worker of groups` {
    private func join(_ change: (inout JoinRequest) -> Void) throws -> (bench: ReducerBench, sender: SessionID) {
        var bench = try ReducerBench()
        var request = ReducerBench.joinRequest(alice)
        change(&request)
        _ = bench.say(.join(request), from: alice)
        let session = bench.machine.journaled.sessionByPeer[alice] ?? .none
        _ = bench.say(.claim(session, bench.machine.epoch, ClaimPart([])), from: alice)
        let sender = bench.join(client, capacity: 0)
        return (bench, sender)
    }

    @Test(arguments: [
        [], ["torches@workers(default)"], ["lamps@workers(other)"], ["lamps"], ["lamps@local"],
    ])
    func `is granted nothing of a feedback that it has not listed, whatever its schema`(lines: [String]) throws {
        for schema in [0, 2 as UInt64] {
            var (bench, sender) = try join {
                $0.feedbacks = lines
                $0.schema = schema
                $0.fingerprint = 0
            }
            #expect(try bench.send(sender, from: 1, .light("a", 1)).grants == [])
            #expect(
                bench.machine.status().warnings.contains {
                    $0.hasPrefix("the worker \"peer 1\"")
                        && $0.hasSuffix("its join request lists no feedback of its groups")
                })
            // One that lists it has them.
            bench.join(bob)
            #expect(bench.machine.status().feedbacks.map(\.running) == [1])
        }
    }

    @Test func `cannot claim what it has not listed`() throws {
        var (bench, sender) = try join { $0.feedbacks = [] }
        _ = try bench.send(sender, from: 1, .light("a", 1))
        let effect = EffectID(feedback: 0, seq: Seq(1), index: 0)
        var again = try ReducerBench(replaying: bench.records, at: 20_000)
        var request = ReducerBench.joinRequest(alice)
        request.feedbacks = []
        _ = again.say(.join(request), from: alice)
        let session = again.machine.journaled.sessionByPeer[alice] ?? .none
        let claim = ClaimedAttempt(effect: effect, attempt: Attempt(epoch: 1, count: 1))
        let out = again.say(.claim(session, again.machine.epoch, ClaimPart([claim])), from: alice)
        #expect(out.messages(to: alice) == [.assignments(Assignments(number: 0, watermark: 0, grants: []))])
    }

    @Test(arguments: [
        ([], "it names no group; the loop has the group \"default\""),
        (["gpu"], "no feedback is in the group \"gpu\"; the loop has the group \"default\" (--group)"),
        (
            ["default", "gpu", "cpu"],
            "no feedback is in the groups \"gpu\", \"cpu\"; the loop has the group \"default\" (--group)"
        ),
    ])
    func `that names groups without feedbacks is told of once, and in the status`(groups: [String], text: String) throws
    {
        let (bench, _) = try join { $0.groups = groups }
        let idle = bench.news.compactMap { news -> String? in
            if case .idle(_, let reason) = news { reason } else { nil }
        }
        #expect(idle == [text])
        let peer = PeerID(high: 0, low: 1)
        #expect(
            bench.machine.status().warnings == ["the worker \"peer 1\" (\(peer)) serves less than it names: \(text)"])
    }

    @Test func `that no other one replaces is missed after five seconds, once, and it is told when it has come`() throws
    {
        var (bench, sender) = try join { $0.groups = ["gpu"] }
        _ = try bench.send(sender, from: 1, .light("a", 1), .light("b", 1))
        let told = NewsOfUnserved(feedback: "lamps", group: "default", effects: 2)
        let text = "2 effects of \"lamps\" wait, and no worker serves it; start one of the group \"default\" (--group)"
        #expect(bench.machine.status().warnings.first == text)
        func isTold(_ news: [ReducerNews]) -> Int { news.count { $0 == .unserved(told) } }
        for _ in 0..<9 { bench.turn(after: 500) }
        #expect(isTold(bench.news) == 0)
        for _ in 0..<9 { bench.turn(after: 500) }
        #expect(isTold(bench.news) == 1)
        bench.join(bob)
        for _ in 0..<2 { bench.turn(after: 500) }
        let served = bench.news.compactMap { news -> String? in
            if case .served(let news, _) = news { news.feedback } else { nil }
        }
        #expect(served == ["lamps"])
        #expect(!bench.machine.status().warnings.contains { $0.contains("no worker serves it") })
        #expect(isTold(bench.news) == 1)
    }

    @Test func `that falls silent, and is the only one, is missed, and what it holds waits`() throws {
        var (bench, sender) = try join { $0.capacity = 1 }
        _ = try bench.send(sender, from: 1, .light("a", 1), .light("b", 1))
        #expect(bench.machine.status().feedbacks.map(\.running) == [1])
        #expect(bench.machine.status().warnings == [])
        for _ in 0..<40 { bench.turn(after: 500) }
        let told = NewsOfUnserved(feedback: "lamps", group: "default", effects: 2)
        #expect(bench.machine.status().warnings == [told.text])
        #expect(bench.machine.status().feedbacks.map { [$0.running, $0.waiting] } == [[0, 2]])
        #expect(bench.news.count { $0 == .unserved(told) } == 1)
        // One of another group is no help.
        var request = ReducerBench.joinRequest(bob)
        request.groups = ["gpu"]
        _ = bench.say(.join(request), from: bob)
        #expect(bench.machine.status().warnings.contains(told.text))
        let session = bench.machine.journaled.sessionByPeer[alice] ?? .none
        _ = bench.say(bench.heartbeat(session, capacity: 1), from: alice)
        #expect(!bench.machine.status().warnings.contains(told.text))
        #expect(bench.machine.status().feedbacks.map { [$0.running, $0.waiting] } == [[1, 1]])
        bench.turn(after: 500)
        #expect(bench.news.count { if case .served = $0 { true } else { false } } == 1)
    }

    @Test func `is not said to have come when the journal has lost records`() throws {
        var (bench, sender) = try join { $0.groups = ["gpu"] }
        _ = try bench.send(sender, from: 1, .light("a", 1))
        for _ in 0..<20 { bench.turn(after: 500) }
        var joinRequest = ReducerBench.joinRequest(bob)
        (joinRequest.history, joinRequest.session) = (bench.machine.history, SessionID(99))
        _ = bench.say(.join(joinRequest), from: bob)
        for _ in 0..<4 { bench.turn(after: 500) }
        #expect(bench.lost != nil)
        #expect(!bench.news.contains { if case .served = $0 { true } else { false } })
    }

    @Test func `that does not list the feedback is named as the reason`() throws {
        var (bench, sender) = try join { $0.feedbacks = [] }
        _ = try bench.send(sender, from: 1, .light("a", 1))
        #expect(
            bench.machine.status().warnings.first
                == "1 effect of \"lamps\" waits, and no worker serves it; the workers of the group \"default\" that are here do not"
                + " list it: start one whose program has this feedback")
    }

    @Test func `that is not heard is not ticked, so that it notices`() throws {
        var (bench, _) = try join { _ in }
        let session = bench.machine.journaled.sessionByPeer[alice] ?? .none
        func isTicked(_ sent: [Outbound]) -> Bool {
            sent.contains {
                guard case .inbox(alice, let frame) = $0, case .tick = frame.message else { return false }
                return true
            }
        }
        for _ in 0..<6 { #expect(isTicked(bench.turn(after: 500))) }
        for _ in 0..<6 { #expect(!isTicked(bench.turn(after: 500))) }
        _ = bench.say(bench.heartbeat(session), from: alice)
        #expect(isTicked(bench.turn(after: 500)))
    }

    @Test func `is not missed for a moment, nor by a loop without effects that wait`() throws {
        var (bench, sender) = try join { $0.groups = ["gpu"] }
        for _ in 0..<20 { bench.turn(after: 500) }
        _ = try bench.send(sender, from: 1, .light("a", 1))
        for _ in 0..<4 { bench.turn(after: 500) }
        let session = bench.join(bob)
        for _ in 0..<20 {
            bench.turn(after: 500)
            _ = bench.say(bench.heartbeat(session), from: bob)
        }
        #expect(!bench.news.contains { if case .unserved = $0 { true } else { false } })
        #expect(!bench.news.contains { if case .served = $0 { true } else { false } })
    }
}

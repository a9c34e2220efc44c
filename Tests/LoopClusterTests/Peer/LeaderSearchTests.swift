import LoopCluster
import LoopCore
import LoopWire
import Testing

/// Section 5 of the protocol: a peer with several addresses finds the reducer that leads.
@Suite struct `A peer that knows several addresses` {
    private let hello = PeerAction.send(.hello(name: "lamps", schema: 2))

    private func joined(at places: String...) -> PeerBench {
        var bench = PeerBench(places: places)
        _ = bench.wait()
        bench.join([bench.grant])
        _ = bench.wait()
        return bench
    }

    @Test func `greets one after the other while none answers, and pauses after the last`() {
        var bench = PeerBench(places: ["a", "b", "c"])
        #expect(bench.wait() == [hello])
        #expect(bench.wait(200) == [hello])
        #expect(bench.wait(799) == [hello])
        #expect(bench.wait(1) == [.dial("b"), hello])
        #expect(bench.wait(1000) == [.dial("c"), hello])
        // The names may stand for other machines by now.
        #expect(bench.wait(1000) == [.lookUp, .dial("a")])
        #expect(bench.wait(124) == [])
        #expect(bench.wait(126) == [hello])
    }

    @Test func `pauses longer after each walk, up to two seconds, and begins with short pauses once it was admitted`() {
        var bench = PeerBench(places: ["a", "b"])
        var pauses: [Duration] = []
        for _ in 0..<6 {
            while true {
                let actions = bench.wait(max(0, (bench.machine.deadline - bench.now).wholeMilliseconds + 1))
                if actions.contains(.lookUp) { break }
            }
            pauses.append(bench.machine.deadline - bench.now)
        }
        for (pause, longest) in zip(pauses, [250, 500, 1000, 2000, 2000, 2000]) {
            #expect(pause >= .milliseconds(longest / 2 - 1) && pause <= .milliseconds(longest))
        }
        // A walk, its redirect and the pause before it take no longer than a reducer waits for.
        #expect(LeaderSearch.walkMax == .seconds(8))
    }

    @Test func `goes at once to the address from which it hears a newer epoch, and its effects go on`() {
        var bench = joined(at: "a", "b")
        #expect(bench.publish(.serverHeartbeat(Seq(3)), at: "b", epoch: 2) == [.dial("b")])
        #expect(bench.wait() == [hello])
        #expect(bench.machine.place == "b")
        bench.epoch = Epoch(number: 2, nonce: 5)
        #expect(bench.reply(.introduction(PeerBench.introduction)) == [.connect(PeerBench.introduction)])
        _ = bench.publish(.joinAccepted(watermark: 0, silenceLimit: .seconds(3), tickInterval: .milliseconds(500)))
        guard case .send(.claim(_, _, let claim))? = bench.wait().first else {
            Issue.record("it claims nothing")
            return
        }
        #expect(claim.attempts.map(\.effect) == [bench.grant.effect])
    }

    @Test func `drops what it hears of an older epoch or of its own from another address, which is no sign of life`() {
        var bench = joined(at: "a", "b")
        _ = bench.wait(2900)
        #expect(bench.publish(.serverHeartbeat(Seq(3)), at: "b", epoch: 0) == [])
        #expect(bench.publish(.serverHeartbeat(Seq(3)), at: "b", epoch: 1) == [])
        #expect(bench.machine.droppedCount == 2)
        #expect(bench.wait(101) == [.dial("b"), hello])
    }

    @Test func `goes where the leader is heard that fell silent, whichever address that is`() {
        var bench = joined(at: "a", "b", "c")
        #expect(bench.wait(3001) == [.dial("b"), hello])
        #expect(bench.publish(.serverHeartbeat(Seq(3)), at: "c", epoch: 1) == [.dial("c")])
        #expect(bench.wait() == [hello])
    }

    @Test func `does not go back to an older epoch while it is on its way to a newer one`() {
        var bench = joined(at: "a", "b", "c")
        #expect(bench.publish(.serverHeartbeat(Seq(3)), at: "c", epoch: 3) == [.dial("c")])
        #expect(bench.publish(.serverHeartbeat(Seq(3)), at: "b", epoch: 2) == [])
        // A standby that does not know the epoch knows less: its redirect is not followed, and the walk goes on.
        #expect(bench.standby(.redirect("a")) == [.dial("b")])
    }

    @Test func `stays on its way to a new leader when the old one publishes where that is`() {
        var bench = joined(at: "a", "b")
        #expect(bench.publish(.serverHeartbeat(Seq(3)), at: "b", epoch: 2) == [.dial("b")])
        #expect(bench.publishStandby(.redirect("b"), at: "a") == [])
        #expect(bench.wait() == [hello])
        bench.epoch = Epoch(number: 2, nonce: 5)
        #expect(bench.reply(.introduction(PeerBench.introduction)) == [.connect(PeerBench.introduction)])
        #expect(bench.publishStandby(.redirect("b"), at: "a") == [])
        #expect(bench.machine.place == "b")
    }

    @Test func `goes where the leader that steps down says, at once`() {
        var bench = joined(at: "a", "b")
        #expect(bench.publishStandby(.redirect("b"), at: "a") == [.dial("b")])
        #expect(bench.wait() == [hello])
    }

    @Test func `comes to the address that fell silent last`() {
        var bench = joined(at: "a", "b", "c")
        #expect(bench.wait(3001) == [.dial("b"), hello])
        #expect(bench.wait(1000) == [.dial("c"), hello])
        #expect(bench.wait(1000) == [.dial("a"), hello])
    }

    @Test func `leaves an address whose reducer answers and does not admit it`() {
        var bench = PeerBench(places: ["a", "b"])
        _ = bench.wait()
        _ = bench.reply(.introduction(PeerBench.introduction))
        #expect(bench.wait(3001) == [.dial("b"), hello])
    }

    @Test func `follows one redirect in each walk`() {
        var bench = PeerBench(places: ["a", "b"])
        _ = bench.wait()
        #expect(bench.standby(.redirect("x")) == [.dial("x")])
        #expect(bench.wait() == [hello])
        // The next in the list.
        #expect(bench.standby(.redirect("y")) == [.dial("b")])
        #expect(bench.wait() == [hello])
        #expect(bench.standby(.redirect("y")) == [.lookUp, .dial("a")])
        #expect(bench.wait(250) == [hello])
        #expect(bench.standby(.redirect("b")) == [.dial("b")])
        // It was greeted in this walk.
        #expect(bench.wait(1000) == [.lookUp, .dial("a")])
    }

    @Test func `follows a redirect to where it is by going on`() {
        var bench = PeerBench(places: ["a", "b"])
        _ = bench.wait()
        #expect(bench.standby(.redirect("a")) == [.dial("b")])
        #expect(bench.standby(.redirect("")) == [.lookUp, .dial("a")])
    }

    @Test func `follows no redirect of an older epoch than its own`() {
        var bench = joined(at: "a", "b")
        bench.epoch = Epoch(number: 7, nonce: 5)
        _ = bench.publish(.joinAccepted(watermark: 0, silenceLimit: .seconds(3), tickInterval: .milliseconds(500)))
        var same = bench
        #expect(bench.standby(.redirect("x"), epoch: 6) == [.dial("b")])
        #expect(same.standby(.redirect("x"), epoch: 7) == [.dial("x")])
    }

    @Test func `is not kept busy by standbys that send it to each other`() {
        var bench = PeerBench(places: ["a", "b"])
        var hellosCount = 0
        while bench.time < 61_000 {
            for action in bench.wait(10) where action == hello {
                hellosCount += 1
                _ = bench.standby(.redirect(bench.machine.place == "a" ? "b" : "a"))
            }
        }
        #expect(hellosCount > 40 && hellosCount < 130)
    }

    @Test(arguments: [(0, 125...250), (50, 125...250), (700, 700...700), (86_400_000, 60_000...60_000)])
    func `waits as long as a standby asks that knows no leader, within limits`(asked: Int64, waits: ClosedRange<Int64>)
    {
        var bench = PeerBench(places: ["a"])
        _ = bench.wait()
        #expect(bench.standby(.noLeader(retryAfter: .milliseconds(asked))) == [.lookUp])
        let pause = (bench.machine.deadline - bench.now).wholeMilliseconds
        #expect(waits.contains(pause))
        #expect(bench.wait(pause + 1) == [hello])
    }

    @Test func `waits after the last address only, for the shortest time that was asked`() {
        var bench = PeerBench(places: ["a", "b"])
        _ = bench.wait()
        #expect(bench.standby(.noLeader(retryAfter: .seconds(50))) == [.dial("b")])
        #expect(bench.standby(.noLeader(retryAfter: .seconds(5))) == [.lookUp, .dial("a")])
        #expect(bench.machine.deadline - bench.now == .seconds(5))
        // A leader that is heard ends the pause.
        #expect(bench.publish(.serverHeartbeat(Seq(3)), at: "a", epoch: 2) == [])
        #expect(bench.wait() == [hello])
    }

    @Test func `stays with a reducer that is busy because its journal has failed, and greets it again`() {
        var bench = PeerBench(places: ["a", "b"])
        #expect(bench.wait() == [hello])
        for _ in 0..<10 {
            #expect(
                bench.reply(.busy(to: .hello, retryAfter: .milliseconds(500), reason: "")) == [])
            #expect(bench.wait(499) == [])
            #expect(bench.wait(1) == [hello])
            #expect(bench.machine.place == "a")
        }
        // Another one that leads is heard at once.
        #expect(bench.publish(.serverHeartbeat(Seq(3)), at: "b", epoch: 2) == [.dial("b")])
    }

    @Test func `with one address, and no standby there, greets it for ever`() {
        var bench = PeerBench(places: ["a"])
        #expect(bench.wait() == [hello])
        for _ in 0..<100 { #expect(bench.wait(200).filter { $0 != .redial } == [hello]) }
    }

    @Test func `with the address of a standby alone, follows its redirects, and comes back to it`() {
        var bench = PeerBench(places: ["a"])
        _ = bench.wait()
        #expect(bench.standby(.redirect("x")) == [.dial("x")])
        #expect(bench.wait() == [hello])
        #expect(bench.wait(1000) == [.lookUp, .dial("a")])
        #expect(bench.wait(250) == [hello])
    }

    @Test func `goes on where an address cannot be dialled`() {
        var bench = PeerBench(places: ["a", "b"])
        _ = bench.wait()
        #expect(bench.standby(.redirect("nonsense")) == [.dial("nonsense")])
        bench.machine.couldNotDial()
        #expect(bench.machine.takeActions() == [.dial("b")])
    }

    @Test func `takes the addresses of a name when they are known, and stays where it has joined`() {
        var bench = PeerBench(places: ["name"])
        _ = bench.wait()
        bench.machine.learn(places: ["a", "b"], at: bench.now)
        #expect(bench.machine.takeActions() == [.dial("a")])
        bench.join()
        bench.machine.learn(places: ["b", "c"], at: bench.now)
        #expect(bench.machine.takeActions().allSatisfy { if case .dial = $0 { false } else { true } })
        #expect(bench.machine.place == "a")
        #expect(bench.wait(3001) == [.dial("b"), hello])
    }

    @Test func `follows nothing once it leaves`() {
        var bench = PeerBench(places: ["a", "b"])
        bench.join()
        _ = bench.wait()
        bench.machine.stop(at: bench.now)
        #expect(bench.machine.takeActions() == [.send(bench.goodbye)])
        #expect(bench.standby(.redirect("x")) == [])
        #expect(bench.publish(.serverHeartbeat(Seq(3)), at: "b", epoch: 2) == [])
    }
}

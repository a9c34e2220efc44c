import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `The progress of effects` {
    private func report(_ grant: Grant, _ fraction: Double, _ text: String = "") -> AttemptProgress {
        AttemptProgress(
            effect: grant.effect, attempt: grant.attempt, progress: EffectProgress(fraction, text))
    }

    /// A worker that runs two effects.
    private func running() throws -> (bench: ReducerBench, worker: SessionID, sender: SessionID, grants: [Grant]) {
        var bench = try ReducerBench()
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grants = try bench.send(sender, from: 1, .light("a", 1), .light("b", 2)).grants
        try #require(grants.count == 2)
        return (bench, worker, sender, grants)
    }

    @Test func `is in the status, the newest report of each attempt, and not in the journal`() throws {
        var (bench, worker, _, grants) = try running()
        #expect(bench.machine.status().effectReports == nil)
        let count = bench.records.count
        for reports in [[report(grants[1], 0.1, "page 1"), report(grants[0], 1)], [report(grants[1], 0.4, "page 12")]] {
            #expect(bench.say(.progress(worker, bench.machine.epoch, reports), from: alice) == [])
        }
        #expect(bench.records.count == count)
        #expect(
            bench.machine.status().effectReports == [
                StatusReport.EffectReport(report(grants[0], 1), feedback: "lamps", session: worker),
                StatusReport.EffectReport(report(grants[1], 0.4, "page 12"), feedback: "lamps", session: worker),
            ])
    }

    @Test func `of an attempt that another owns, or that is of no effect, is not taken`() throws {
        var (bench, worker, sender, grants) = try running()
        var foreign = report(grants[0], 0.5)
        foreign.attempt.count += 9
        var unknown = report(grants[0], 0.5)
        unknown.effect.index += 9
        _ = bench.say(.progress(worker, bench.machine.epoch, [foreign, unknown]), from: alice)
        _ = bench.say(.progress(sender, bench.machine.epoch, [report(grants[0], 0.5)]), from: client)
        _ = bench.say(.progress(SessionID(99), bench.machine.epoch, [report(grants[0], 0.5)]), from: bob)
        #expect(bench.machine.status().effectReports == nil)
    }

    @Test func `is gone with the attempt`() throws {
        var (bench, worker, sender, grants) = try running()
        _ = bench.say(
            .progress(worker, bench.machine.epoch, [report(grants[0], 0.5), report(grants[1], 0.6)]), from: alice)
        _ = try bench.send(sender, from: 3, .darken("a"))
        #expect(bench.machine.status().effectReports?.map(\.fraction) == [0.6])
        _ = bench.push(
            bench.batch(worker, from: 1, [Entry(endOf: grants[1].effect, grants[1].attempt, Failure(message: "no"))]))
        bench.turn(after: 5000)
        #expect(bench.machine.status().effectReports == nil)
    }
}

@Suite struct `A peer reports progress` {
    private func report(_ bench: PeerBench, _ fraction: Double) -> AttemptProgress {
        AttemptProgress(
            effect: bench.grant.effect, attempt: bench.grant.attempt, progress: EffectProgress(fraction))
    }

    private func told(_ actions: [PeerAction]) -> [[AttemptProgress]] {
        actions.compactMap { if case .send(.progress(_, _, let reports)) = $0 { reports } else { nil } }
    }

    @Test func `with its heartbeats, the newest of each attempt, if it has changed`() {
        var bench = PeerBench()
        bench.join([bench.grant])
        _ = bench.wait(500)
        for step in 1...5 { bench.machine.report(report(bench, Double(step) / 10)) }
        #expect(told(bench.wait(100)) == [])
        #expect(told(bench.wait(400)) == [[report(bench, 0.5)]])
        bench.machine.report(report(bench, 0.5))
        #expect(told(bench.wait(500)) == [])
        bench.machine.report(report(bench, 0.6))
        #expect(told(bench.wait(500)) == [[report(bench, 0.6)]])
    }

    @Test func `again to a reducer that has let it in again, and nothing of attempts that have ended`() {
        var bench = PeerBench()
        bench.join([bench.grant])
        bench.machine.report(report(bench, 0.5))
        #expect(told(bench.wait(500)) == [[report(bench, 0.5)]])
        bench.epoch.number = 2
        _ = bench.publish(.joinAccepted(watermark: 0, silenceLimit: .seconds(3), tickInterval: .milliseconds(500)))
        _ = bench.reply(.assignments(Assignments(number: 0, watermark: 0, grants: [bench.grant])))
        #expect(told(bench.wait(500)) == [[report(bench, 0.5)]])
        bench.machine.report(report(bench, 0.9))
        bench.machine.effectEnded(bench.grant.effect, bench.grant.attempt, failure: nil)
        #expect(told(bench.wait(500)) == [])
        bench.machine.report(report(bench, 1))
        #expect(told(bench.wait(500)) == [])
    }
}

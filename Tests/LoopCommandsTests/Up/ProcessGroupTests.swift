import LoopCore
import LoopNode
import Testing

@testable import LoopCommands

@Suite struct `The processes of up` {
    private func at(_ milliseconds: Int) -> MonotonicTime { MonotonicTime.zero + .milliseconds(milliseconds) }

    private func begun(workers: Int = 2) -> ProcessGroup {
        var processes = ProcessGroup(loop: "check", workers: workers, reducer: "tcp://127.0.0.1:1")
        _ = processes.begin(at: at(0))
        return processes
    }

    @Test func `are all started at once`() {
        var processes = ProcessGroup(loop: "check", workers: 2, reducer: "tcp://127.0.0.1:1")
        #expect(processes.begin(at: at(0)) == [.start(.reducer), .start(.worker(1)), .start(.worker(2))])
        #expect(processes.deadline == nil)
    }

    @Test(arguments: [0, 1] as [Int32])
    func `leave by themselves after the verdict, which is the exit code`(code: Int32) {
        var processes = begun()
        #expect(processes.exited(.worker(1), .exited(0), at: at(10)) == [])
        #expect(processes.exited(.reducer, .exited(code), at: at(20)) == [])
        #expect(processes.exited(.worker(2), .exited(0), at: at(30)) == [.finish(code)])
        #expect(processes.deadline == nil)
    }

    @Test func `are asked to leave if they have not heard of the verdict`() {
        var processes = begun()
        #expect(processes.exited(.reducer, .exited(0), at: at(0)) == [])
        #expect(processes.exited(.worker(1), .exited(0), at: at(10)) == [])
        #expect(processes.deadline == at(200))
        #expect(processes.advance(to: at(199)) == [])
        #expect(processes.advance(to: at(200)) == [.terminate(.worker(2))])
        #expect(processes.exited(.worker(2), .exited(0), at: at(210)) == [.finish(0)])
    }

    @Test func `are killed where they do not leave although they were told to`() {
        var processes = begun()
        #expect(processes.exited(.reducer, .exited(1), at: at(0)) == [])
        #expect(processes.advance(to: at(200)) == [.terminate(.worker(1)), .terminate(.worker(2))])
        #expect(processes.deadline == at(2000))
        #expect(processes.advance(to: at(1999)) == [])
        #expect(processes.advance(to: at(2000)) == [.kill(.worker(1)), .kill(.worker(2))])
        #expect(processes.exited(.worker(1), .signaled(9), at: at(2001)) == [])
        #expect(processes.exited(.worker(2), .signaled(9), at: at(2002)) == [.finish(1)])
    }

    @Test(arguments: [2, 64, 134] as [Int32])
    func `end at once when the reducer could not run, with its exit code`(code: Int32) {
        var processes = begun()
        #expect(processes.exited(.reducer, .exited(code), at: at(5)) == [.kill(.worker(1)), .kill(.worker(2))])
        #expect(processes.exited(.worker(1), .signaled(9), at: at(6)) == [])
        #expect(processes.exited(.worker(2), .signaled(9), at: at(7)) == [.finish(code)])
    }

    @Test(arguments: [1, 64] as [Int32])
    func `are not started again once the reducer has ended, however late others end`(code: Int32) {
        var processes = begun()
        _ = processes.exited(.reducer, .exited(code), at: at(5))
        #expect(processes.exited(.worker(1), .signaled(9), at: at(6)) == [])
        #expect(!processes.advance(to: at(5000)).contains(.start(.worker(1))))
        #expect(processes.exited(.worker(2), .signaled(9), at: at(5001)) == [.finish(code)])
        #expect(processes.deadline == nil)
    }

    @Test func `are not started again while the group stops`() {
        var processes = begun()
        _ = processes.stop(at: at(10))
        #expect(processes.exited(.reducer, .signaled(9), at: at(20)) == [])
        #expect(!processes.advance(to: at(5000)).contains(.start(.reducer)))
        _ = processes.exited(.worker(1), .exited(0), at: at(5001))
        #expect(processes.exited(.worker(2), .exited(0), at: at(5002)) == [.finish(0)])
    }

    @Test func `are started again when a signal ends them`() {
        var processes = begun()
        #expect(
            processes.exited(.worker(1), .signaled(9), at: at(100)) == [
                .say("worker-1 was ended by signal 9 (Killed); it starts again in 200 ms")
            ])
        #expect(processes.deadline == at(300))
        #expect(processes.advance(to: at(300)) == [.start(.worker(1))])
        #expect(
            processes.exited(.reducer, .signaled(5), at: at(400)) == [
                .say("the reducer was ended by signal 5 (Trace/breakpoint trap); it starts again in 200 ms")
            ])
        #expect(processes.advance(to: at(600)) == [.start(.reducer)])
    }

    @Test func `are started again after a crash, each time later`() {
        var processes = begun(workers: 1)
        #expect(processes.exited(.worker(1), .exited(1), at: at(10)) == [])
        #expect(processes.deadline == at(210))
        #expect(processes.advance(to: at(209)) == [])
        #expect(processes.advance(to: at(210)) == [.start(.worker(1))])
        #expect(processes.exited(.worker(1), .exited(1), at: at(220)) == [])
        #expect(processes.deadline == at(620))
        #expect(processes.advance(to: at(700)) == [.start(.worker(1))])
    }

    @Test func `pause no longer than ten seconds, and briefly again after a stable run`() {
        var processes = begun(workers: 1)
        var now = at(0)
        for pause in [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000] {
            #expect(processes.exited(.worker(1), .exited(1), at: now) == [])
            #expect(processes.deadline == now + .milliseconds(pause))
            // The machine was late.
            now = now + .seconds(20)
            #expect(processes.advance(to: now) == [.start(.worker(1))])
        }
        now = now + .seconds(10)
        #expect(processes.exited(.worker(1), .exited(1), at: now) == [])
        #expect(processes.deadline == now + .milliseconds(200))
    }

    @Test func `are given up after six crashes within a minute, and only then`() {
        var processes = begun()
        // At the last two of these the first is more than a minute ago.
        for crash in [0, 50_000, 54_000, 58_000, 62_000, 66_000] {
            #expect(processes.exited(.worker(1), .exited(1), at: at(crash)) == [])
            #expect(processes.advance(to: at(crash + 3300)) == [.start(.worker(1))])
        }
        #expect(
            processes.exited(.worker(1), .exited(1), at: at(70_000)) == [
                .say("gave up worker-1: it crashed 6 times")
            ])
        #expect(processes.deadline == nil)
        #expect(processes.advance(to: at(99_000)) == [])
    }

    @Test func `are forgotten when they have ended`() {
        var processes = begun()
        #expect(processes.exited(.worker(1), .exited(0), at: at(1)) == [])
        #expect(processes.exited(.worker(1), .exited(1), at: at(2)) == [])
        #expect(processes.deadline == nil)
        #expect(processes.stop(at: at(3)) == [.terminate(.worker(2))])
    }

    @Test func `are brought back with a reducer that was killed after the loop's end, before its verdict`() {
        var processes = begun()
        #expect(processes.exited(.worker(1), .exited(0), at: at(90)) == [])
        #expect(processes.exited(.worker(2), .exited(0), at: at(91)) == [])
        _ = processes.exited(.reducer, .signaled(9), at: at(100))
        #expect(processes.advance(to: at(300)) == [.start(.reducer), .start(.worker(1)), .start(.worker(2))])
        #expect(processes.deadline == nil)
    }

    @Test func `are not waited for where they were about to be started again`() {
        var processes = begun()
        _ = processes.exited(.worker(1), .signaled(9), at: at(100))
        #expect(processes.exited(.worker(2), .exited(0), at: at(110)) == [])
        #expect(processes.exited(.reducer, .exited(0), at: at(120)) == [.finish(0)])
        #expect(processes.deadline == nil)
    }

    @Test func `end with 2 when the reducer crashes again and again`() {
        var processes = begun(workers: 1)
        var now = at(0)
        for _ in 0..<5 {
            _ = processes.exited(.reducer, .signaled(11), at: now)
            now = now + .seconds(10)
            #expect(processes.advance(to: now) == [.start(.reducer)])
        }
        #expect(
            processes.exited(.reducer, .signaled(11), at: now) == [
                .say("the reducer was ended by signal 11 (Segmentation fault)"),
                .say("gave up: the reducer crashed 6 times"), .kill(.worker(1)),
            ])
        #expect(processes.exited(.worker(1), .signaled(9), at: now) == [.finish(2)])
    }

    @Test func `stop in order: first workers, which hand their work back, then the reducer`() {
        var processes = begun()
        #expect(processes.stop(at: at(0)) == [.terminate(.worker(1)), .terminate(.worker(2))])
        #expect(processes.exited(.worker(2), .exited(0), at: at(50)) == [])
        #expect(processes.exited(.worker(1), .exited(0), at: at(60)) == [.terminate(.reducer)])
        #expect(processes.exited(.reducer, .exited(0), at: at(70)) == [.finish(0)])
    }

    @Test func `stop without the reducer's patience where workers hang`() {
        var processes = begun(workers: 1)
        #expect(processes.stop(at: at(0)) == [.terminate(.worker(1))])
        #expect(processes.deadline == at(3000))
        #expect(processes.advance(to: at(3000)) == [.terminate(.reducer)])
        #expect(processes.deadline == at(5000))
        #expect(processes.advance(to: at(5000)) == [.kill(.worker(1))])
        #expect(processes.exited(.worker(1), .signaled(9), at: at(5001)) == [])
        #expect(processes.advance(to: at(8000)) == [.kill(.reducer)])
        #expect(processes.exited(.reducer, .signaled(9), at: at(8001)) == [.finish(0)])
    }

    @Test func `stop without what was about to be started again`() {
        var processes = begun()
        #expect(processes.exited(.worker(1), .exited(1), at: at(1)) == [])
        #expect(processes.stop(at: at(2)) == [.terminate(.worker(2))])
        #expect(processes.advance(to: at(1000)) == [])
        #expect(processes.exited(.worker(2), .exited(0), at: at(1001)) == [.terminate(.reducer)])
    }

    @Test func `are killed by a second signal`() {
        var processes = begun(workers: 1)
        _ = processes.stop(at: at(0))
        #expect(processes.stop(at: at(1)) == [.kill(.reducer), .kill(.worker(1))])
        #expect(processes.exited(.worker(1), .signaled(9), at: at(2)) == [])
        #expect(processes.exited(.reducer, .signaled(9), at: at(3)) == [.finish(130)])
    }

    @Test func `are not started again after a second signal`() {
        var processes = begun(workers: 1)
        _ = processes.exited(.reducer, .signaled(9), at: at(0))
        #expect(processes.stop(at: at(10)) == [.terminate(.worker(1))])
        #expect(processes.stop(at: at(20)) == [.kill(.worker(1))])
        #expect(processes.advance(to: at(300)) == [])
        #expect(processes.exited(.worker(1), .signaled(9), at: at(301)) == [.finish(130)])
    }

    @Test func `get their reducer back while they hand their work back, and no worker that had left`() {
        var processes = begun()
        #expect(processes.exited(.worker(1), .exited(0), at: at(0)) == [])
        _ = processes.exited(.reducer, .signaled(9), at: at(10))
        #expect(processes.stop(at: at(20)) == [.terminate(.worker(2))])
        #expect(processes.advance(to: at(210)) == [.start(.reducer)])
        #expect(processes.exited(.worker(2), .exited(0), at: at(300)) == [.terminate(.reducer)])
    }

    @Test func `are killed by a signal after the verdict, which stays`() {
        var processes = begun(workers: 1)
        _ = processes.exited(.reducer, .exited(1), at: at(0))
        #expect(processes.stop(at: at(1)) == [.kill(.worker(1))])
        #expect(processes.exited(.worker(1), .signaled(9), at: at(2)) == [.finish(1)])
        #expect(processes.stop(at: at(3)) == [])
    }

    @Test(arguments: [2, 64] as [Int32])
    func `stop when every worker was used wrongly, with that exit code`(code: Int32) {
        var processes = begun()
        #expect(processes.exited(.worker(1), .exited(code), at: at(1)) == [])
        #expect(processes.exited(.worker(2), .exited(code), at: at(2)) == [.terminate(.reducer)])
        #expect(processes.exited(.reducer, .exited(0), at: at(3)) == [.finish(code)])
    }

    @Test func `go on without a worker that left, and a line says when none is left`() {
        var processes = begun()
        #expect(processes.exited(.worker(1), .exited(0), at: at(0)) == [])
        #expect(processes.exited(.worker(2), .exited(0), at: at(1000)) == [])
        #expect(processes.deadline == at(3000))
        #expect(
            processes.advance(to: at(3000)) == [
                .say("no worker runs; start one by: loop-effect check --reducer tcp://127.0.0.1:1")
            ])
        #expect(processes.deadline == nil)
        #expect(processes.exited(.reducer, .exited(0), at: at(9000)) == [.finish(0)])
    }

    @Test func `may be a reducer alone`() {
        var processes = ProcessGroup(loop: "check", workers: 0, reducer: "tcp://127.0.0.1:1")
        #expect(
            processes.begin(at: at(0)) == [
                .start(.reducer), .say("no worker runs; start one by: loop-effect check --reducer tcp://127.0.0.1:1"),
            ])
    }

    @Test func `that cannot be started are tried again, and given up in the end`() {
        var processes = begun(workers: 1)
        var now = at(0)
        for pause in [200, 400, 800, 1600, 3200] {
            let said = processes.startFailed(.reducer, "no room", at: now)
            #expect(said == [.say("the reducer could not be started: no room; it starts again in \(pause) ms")])
            now = now + .seconds(10)
            #expect(processes.advance(to: now) == [.start(.reducer)])
        }
        let last = processes.startFailed(.reducer, "no room", at: now)
        #expect(last.suffix(2) == [.say("gave up: the reducer crashed 6 times"), .kill(.worker(1))])
    }
}

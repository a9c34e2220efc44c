import LoopCore
import LoopNode
import Testing

@Suite struct `A supervisor` {
    private func at(_ milliseconds: Int) -> MonotonicTime {
        MonotonicTime(nanoseconds: 0) + .milliseconds(milliseconds)
    }

    @Test func `starts a crashed process again, each time later`() {
        var supervisor = Supervisor()
        #expect(supervisor.start(at: at(0)) == .start)
        #expect(supervisor.exited(.exited(1), at: at(10)) == .none)
        #expect(supervisor.deadline == at(210))
        #expect(supervisor.advance(to: at(209)) == .none)
        #expect(supervisor.advance(to: at(210)) == .start)
        #expect(supervisor.exited(.signaled(9), at: at(220)) == .none)
        #expect(supervisor.deadline == at(620))
        #expect(supervisor.advance(to: at(700)) == .start)
    }

    @Test func `pauses no longer than its longest pause, and briefly again after a stable run`() {
        var policy = Supervisor.Policy()
        policy.delayMax = .milliseconds(300)
        policy.crashesMax = 100
        var supervisor = Supervisor(policy)
        var now = at(0)
        #expect(supervisor.start(at: now) == .start)
        for _ in 0..<4 {
            #expect(supervisor.exited(.exited(1), at: now) == .none)
            now = now + .milliseconds(300)
            #expect(supervisor.advance(to: now) == .start)
        }
        now = now + .seconds(10)
        #expect(supervisor.exited(.exited(1), at: now) == .none)
        #expect(supervisor.deadline == now + .milliseconds(200))
    }

    @Test func `gives up after too many crashes within the window, and only then`() {
        var policy = Supervisor.Policy()
        policy.crashesMax = 2
        policy.crashWindow = .seconds(10)
        var supervisor = Supervisor(policy)
        #expect(supervisor.start(at: at(0)) == .start)
        #expect(supervisor.exited(.exited(1), at: at(0)) == .none)
        #expect(supervisor.advance(to: at(5000)) == .start)
        #expect(supervisor.startFailed(at: at(5000)) == .none)
        #expect(supervisor.advance(to: at(11_000)) == .start)
        // The first crash is 11 s ago.
        #expect(supervisor.exited(.exited(1), at: at(11_000)) == .none)
        #expect(supervisor.advance(to: at(12_000)) == .start)
        let ending = Supervisor.Ending.gaveUp(crashes: 3, last: .exited(1))
        #expect(supervisor.exited(.exited(1), at: at(12_000)) == .finish(ending))
        #expect(supervisor.ending == ending)
        #expect(supervisor.deadline == nil)
        #expect(supervisor.advance(to: at(99_000)) == .none)
    }

    @Test func `is done with success, and with a code that a restart does not cure`() {
        var done = Supervisor()
        #expect(done.start(at: at(0)) == .start)
        #expect(done.exited(.exited(0), at: at(1)) == .finish(.done))
        var hopeless = Supervisor()
        #expect(hopeless.start(at: at(0)) == .start)
        #expect(hopeless.exited(.exited(64), at: at(1)) == .finish(.hopeless(.exited(64))))
    }

    @Test func `stops politely, then not`() {
        var supervisor = Supervisor()
        #expect(supervisor.start(at: at(0)) == .start)
        #expect(supervisor.stop(at: at(100)) == .terminate)
        #expect(supervisor.stop(at: at(101)) == .none)
        #expect(supervisor.deadline == at(5100))
        #expect(supervisor.advance(to: at(5099)) == .none)
        #expect(supervisor.advance(to: at(5100)) == .kill)
        #expect(supervisor.advance(to: at(5101)) == .none)
        #expect(supervisor.exited(.signaled(9), at: at(5102)) == .finish(.stopped(.signaled(9))))
    }

    @Test func `stops at once what is not running`() {
        var waiting = Supervisor()
        #expect(waiting.start(at: at(0)) == .start)
        #expect(waiting.exited(.exited(1), at: at(1)) == .none)
        #expect(waiting.stop(at: at(2)) == .finish(.stopped(nil)))
        var idle = Supervisor()
        #expect(idle.stop(at: at(0)) == .finish(.stopped(nil)))
        #expect(idle.start(at: at(1)) == .none)
    }

    @Test func `ignores what comes when it is over`() {
        var supervisor = Supervisor()
        #expect(supervisor.start(at: at(0)) == .start)
        #expect(supervisor.exited(.exited(0), at: at(1)) == .finish(.done))
        #expect(supervisor.exited(.exited(1), at: at(2)) == .none)
        #expect(supervisor.startFailed(at: at(2)) == .none)
        #expect(supervisor.stop(at: at(3)) == .none)
    }
}

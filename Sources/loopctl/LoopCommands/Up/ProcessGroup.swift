import LoopCore
import LoopNode

/// Decides about the processes of a loop on this machine, and when the loop is over. It is a pure machine.
///
///     working ──the reducer ends by itself──▶ closing ──all have ended──▶ over
///        │                                      ▲
///        ├──a signal, or no worker is left──▶ stopping: first the workers, which hand their work back,
///        │                                      then the reducer ──all have ended──▶ over
///        └──a second signal──▶ everything is killed
struct ProcessGroup: Sendable, Equatable {
    /// A process of the group.
    enum Member: Hashable, Sendable, CustomStringConvertible {
        case reducer
        /// Numbered from 1.
        case worker(Int)

        /// Its place among the processes.
        fileprivate var index: Int { if case .worker(let number) = self { number } else { 0 } }

        var description: String {
            switch self {
            case .reducer: "the reducer"
            case .worker(let number): "worker-\(number)"
            }
        }
    }

    /// The actions of the shell, in this order.
    enum Action: Equatable, Sendable {
        case start(Member)
        /// Send SIGTERM.
        case terminate(Member)
        /// Send SIGKILL.
        case kill(Member)
        /// Write a line for people.
        case say(String)
        /// Exit with this code, because no process runs any more.
        case finish(Int32)
    }

    private enum State: Sendable, Equatable {
        /// The reducer runs, or is about to be started again.
        case working
        /// The reducer has ended with this code. The others are asked to end at this time; nil once they were.
        case closing(code: Int32, othersAt: MonotonicTime?)
        /// The group was asked to end. The reducer stays until the workers have handed their work back, or until this time. The
        /// time is nil after the reducer was asked to end too.
        case stopping(code: Int32, reducerAt: MonotonicTime?)
        /// Everything has ended.
        case over
    }

    /// What a process does.
    private enum Phase: Sendable, Equatable {
        /// It runs, or is being started.
        case running(since: MonotonicTime)
        /// It is started at this time, for the first time or after a crash.
        case backingOff(until: MonotonicTime)
        /// SIGTERM was sent. SIGKILL follows at this time; nil once it was sent.
        case stopping(killAt: MonotonicTime?)
        /// Nothing follows.
        case ended(Ending)
    }

    /// Why a process is not started again.
    private enum Ending: Sendable, Equatable {
        /// It ended by itself with code 0.
        case done
        /// It was stopped.
        case stopped
        /// It ended with a code that a restart does not cure.
        case hopeless(Int32)
        /// It crashed too often.
        case gaveUp

        /// The exit code for a final failure, or nil if it is none.
        var failureCode: Int32? {
            switch self {
            case .hopeless(let code): code
            case .gaveUp: 2
            case .done, .stopped: nil
            }
        }
    }

    /// A process, and its crashes.
    private struct Process: Sendable, Equatable {
        let member: Member
        var phase = Phase.backingOff(until: .zero)
        /// The times of the crashes within the window.
        var crashes: [MonotonicTime] = []
        /// The pause after the next crash.
        var delay = Process.firstDelay

        /// The pause after the first crash. It doubles with each further crash.
        private static let firstDelay = Duration.milliseconds(200)
        /// The longest pause.
        private static let delayMax = Duration.seconds(10)
        /// A run of at least this length resets the pause.
        private static let stableAfter = Duration.seconds(10)
        /// With more crashes than this within the window, the process is given up.
        private static let crashesMax = 5
        /// The time over which crashes are counted.
        private static let crashWindow = Duration.seconds(60)

        init(_ member: Member) { self.member = member }

        var isRunning: Bool {
            switch phase {
            case .running, .stopping: true
            case .backingOff, .ended: false
            }
        }

        var ending: Ending? { if case .ended(let ending) = phase { ending } else { nil } }

        /// When its phase changes without an end, or nil if never.
        var deadline: MonotonicTime? {
            switch phase {
            case .backingOff(let until): until
            case .stopping(let killAt): killAt
            case .running, .ended: nil
            }
        }

        /// Notes its end, or that it could not be started if `exit` is nil, which counts as a crash.
        mutating func end(_ exit: ProcessExit?, at now: MonotonicTime) {
            guard case .running(let since) = phase else {
                phase = .ended(.stopped)
                return
            }
            switch exit {
            case .exited(0): phase = .ended(.done)
            // If the reducer ends by itself, that is final, whatever its code. A worker that was used wrongly is not cured.
            case .exited(let code) where member == .reducer || code == 2 || code == 64: phase = .ended(.hopeless(code))
            case .exited, .signaled, nil:
                if now - since >= Self.stableAfter { delay = Self.firstDelay }
                crashes.removeAll { now - $0 > Self.crashWindow }
                crashes.append(now)
                phase = crashes.count > Self.crashesMax ? .ended(.gaveUp) : .backingOff(until: now + delay)
                delay = min(delay * 2, Self.delayMax)
            }
        }
    }

    /// How long workers may take to end by themselves after the reducer's verdict. A worker that came too late to learn of the
    /// loop's end waits for its reducer.
    private static let leaveLimit = Duration.milliseconds(200)
    /// How long workers may take from SIGTERM to SIGKILL after the reducer's verdict.
    private static let endLimit = Duration.milliseconds(1800)
    /// How long a process may take from SIGTERM to SIGKILL if it has work to hand back.
    private static let stopLimit = Duration.seconds(5)
    /// How long the reducer waits for workers that hand their work back.
    private static let handBackLimit = Duration.seconds(3)
    /// How long a loop may have no workers before a line says so.
    private static let idleLimit = Duration.seconds(2)

    private var state = State.working
    /// The reducer, then the workers.
    private var processes: [Process]
    /// When to write a line that no worker runs, or nil while some run or after it was written.
    private var idleNoticeAt: MonotonicTime?
    private let reducer: ReducerAddress
    private let loop: String

    init(loop: String, workers: Int, reducer: ReducerAddress) {
        self.loop = loop
        self.reducer = reducer
        processes = [Process(.reducer)] + (0..<workers).map { Process(.worker($0 + 1)) }
    }

    /// Begins. Called once.
    mutating func begin(at now: MonotonicTime) -> [Action] {
        if processes.count == 1 { idleNoticeAt = now }
        return advance(to: now)
    }

    /// Notes the end of a process.
    mutating func exited(_ member: Member, _ exit: ProcessExit, at now: MonotonicTime) -> [Action] {
        guard self[member].isRunning else { return [] }
        end(member, exit, at: now)
        var actions: [Action] = []
        if case .working = state, case .signaled = exit {
            actions.append(.say("\(member) was ended by \(exit)\(remedy(for: member, at: now))"))
        }
        return actions + follow(endOf: member, at: now) + settle(at: now)
    }

    /// Notes that a process could not be started.
    mutating func startFailed(_ member: Member, _ why: String, at now: MonotonicTime) -> [Action] {
        end(member, nil, at: now)
        let said = Action.say("\(member) could not be started: \(why)\(remedy(for: member, at: now))")
        return [said] + follow(endOf: member, at: now) + settle(at: now)
    }

    /// Requests the end. The first call ends the group gracefully, with code 0. The second kills it, with code 130.
    mutating func stop(at now: MonotonicTime) -> [Action] {
        switch state {
        case .working:
            return beginStopping(code: 0, at: now) + settle(at: now)
        case .closing(let code, _):
            state = .closing(code: code, othersAt: nil)
            return killAll()
        case .stopping(let code, _):
            state = .stopping(code: code == 0 ? 130 : code, reducerAt: nil)
            return killAll()
        case .over:
            return []
        }
    }

    /// Does what is due at this time.
    mutating func advance(to now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        for process in processes {
            switch process.phase {
            case .backingOff(let until) where until <= now: actions += start(process.member, at: now)
            case .stopping(let killAt?) where killAt <= now: actions.append(kill(process.member))
            case .running, .backingOff, .stopping, .ended: break
            }
        }
        if let notice = idleNoticeAt, notice <= now, case .working = state {
            idleNoticeAt = nil
            actions.append(
                .say("no worker runs; start one by: loop-effect \(loop) --reducer \(reducer)"))
        }
        if case .closing(let code, let othersAt?) = state, othersAt <= now {
            state = .closing(code: code, othersAt: nil)
            for process in processes { actions += stop(process.member, within: Self.endLimit, at: now) }
        }
        if case .stopping(let code, let reducerAt?) = state, reducerAt <= now {
            state = .stopping(code: code, reducerAt: nil)
            actions += stop(.reducer, within: Self.stopLimit, at: now)
        }
        return actions + settle(at: now)
    }

    /// When ``advance(to:)`` has something to do, or nil for never.
    var deadline: MonotonicTime? {
        let own: MonotonicTime? =
            switch state {
            case .working: idleNoticeAt
            case .closing(_, let othersAt): othersAt
            case .stopping(_, let reducerAt): reducerAt
            case .over: nil
            }
        return (processes.map(\.deadline) + [own]).compactMap { $0 }.min()
    }

    // MARK: Consequences

    private subscript(_ member: Member) -> Process {
        get { processes[member.index] }
        set { processes[member.index] = newValue }
    }

    private var runsWorkers: Bool { processes.dropFirst().contains(where: \.isRunning) }

    private mutating func start(_ member: Member, at now: MonotonicTime) -> [Action] {
        self[member].phase = .running(since: now)
        guard member == .reducer, case .working = state else { return [.start(member)] }
        // The reducer had ended before it gave its verdict. So the workers start again that left because the loop had ended.
        if processes.count > 1 { idleNoticeAt = nil }
        var actions = [Action.start(member)]
        for worker in processes.dropFirst() where worker.ending == .done {
            self[worker.member] = Process(worker.member)
            actions += start(worker.member, at: now)
        }
        return actions
    }

    /// Asks a process to end, or does not start it again.
    private mutating func stop(_ member: Member, within limit: Duration, at now: MonotonicTime) -> [Action] {
        switch self[member].phase {
        case .running:
            self[member].phase = .stopping(killAt: now + limit)
            return [.terminate(member)]
        case .backingOff:
            self[member].phase = .ended(.stopped)
            return []
        case .stopping, .ended:
            return []
        }
    }

    private mutating func kill(_ member: Member) -> Action {
        self[member].phase = .stopping(killAt: nil)
        return .kill(member)
    }

    private mutating func killAll() -> [Action] {
        giveUpWaiting()
        return processes.filter(\.isRunning).map { kill($0.member) }
    }

    /// Processes that wait to be started again are not started.
    private mutating func giveUpWaiting() {
        for process in processes where process.deadline != nil && !process.isRunning {
            self[process.member].phase = .ended(.stopped)
        }
    }

    /// Notes an end. In a group that ends, no process is started again.
    private mutating func end(_ member: Member, _ exit: ProcessExit?, at now: MonotonicTime) {
        self[member].end(exit, at: now)
        if case .working = state { return }
        self[member].phase = .ended(.stopped)
    }

    private mutating func follow(endOf member: Member, at now: MonotonicTime) -> [Action] {
        guard case .working = state, let ending = self[member].ending else { return [] }
        return member == .reducer ? reducerEnded(ending, at: now) : workerEnded(member, ending, at: now)
    }

    private mutating func reducerEnded(_ ending: Ending, at now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        if ending == .gaveUp {
            actions.append(.say("gave up: the reducer crashed \(self[.reducer].crashes.count) times"))
        }
        let code = ending.failureCode ?? 0
        // Workers end by themselves when the loop has ended. Without a reducer they would wait in vain, so they are killed.
        guard code == 0 || code == 1 else {
            state = .closing(code: code, othersAt: nil)
            return actions + killAll()
        }
        state = .closing(code: code, othersAt: now + Self.leaveLimit)
        giveUpWaiting()
        return actions
    }

    private mutating func workerEnded(_ member: Member, _ ending: Ending, at now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        if ending == .gaveUp {
            actions.append(.say("gave up \(member): it crashed \(self[member].crashes.count) times"))
        }
        let workers = processes.dropFirst()
        guard workers.allSatisfy({ $0.ending != nil }) else { return actions }
        let codes = workers.compactMap { $0.ending?.failureCode }
        if codes.count == workers.count, let code = codes.max() {
            // Wrong usage, which the workers have reported.
            return actions + beginStopping(code: code, at: now)
        }
        idleNoticeAt = now + Self.idleLimit
        return actions
    }

    private mutating func beginStopping(code: Int32, at now: MonotonicTime) -> [Action] {
        state = .stopping(code: code, reducerAt: now + Self.handBackLimit)
        var actions: [Action] = []
        for worker in processes.dropFirst() { actions += stop(worker.member, within: Self.stopLimit, at: now) }
        return actions
    }

    /// Continues if the group was waiting for the end of a process.
    private mutating func settle(at now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        if case .stopping(let code, _?) = state, !runsWorkers {
            state = .stopping(code: code, reducerAt: nil)
            actions += stop(.reducer, within: Self.stopLimit, at: now)
        }
        guard !processes.contains(where: \.isRunning) else { return actions }
        switch state {
        case .closing(let code, _), .stopping(let code, _):
            state = .over
            return actions + [.finish(code)]
        case .working, .over:
            return actions
        }
    }

    private func remedy(for member: Member, at now: MonotonicTime) -> String {
        guard case .backingOff(let until) = self[member].phase else { return "" }
        return "; it starts again in \((until - now).wholeNanoseconds / 1_000_000) ms"
    }
}

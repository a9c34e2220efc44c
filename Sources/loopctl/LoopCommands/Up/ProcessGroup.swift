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
        /// The reducer has ended with this code. Remaining processes are urged to end. `next` is nil after they were killed.
        case closing(code: Int32, next: Urge?)
        /// The group was asked to end. The reducer stays until the workers have handed their work back, or until this time. The
        /// time is nil after the reducer was asked to end too.
        case stopping(code: Int32, reducerAt: MonotonicTime?)
        /// Everything has ended.
        case over
    }

    /// The next measure, and its time, against workers that are still running after the reducer's verdict.
    private enum Urge: Equatable {
        case terminate(at: MonotonicTime)
        case kill(at: MonotonicTime)

        var time: MonotonicTime {
            switch self {
            case .terminate(let at), .kill(let at): at
            }
        }
    }

    /// How long workers may take to end by themselves after the reducer's verdict. A worker that came too late to learn of the
    /// loop's end waits for its reducer.
    private static let leaveLimit = Duration.milliseconds(200)
    /// How long workers may take after SIGTERM.
    private static let endLimit = Duration.milliseconds(1800)
    /// How long the reducer waits for workers that hand their work back.
    private static let handBackLimit = Duration.seconds(3)
    /// How long a loop may have no workers before a line says so.
    private static let idleLimit = Duration.seconds(2)

    private var state = State.working
    private let members: [Member]
    private var supervisors: [Member: Supervisor] = [:]
    private var running: Set<Member> = []
    /// When to write a line that no worker runs, or nil while some run or after it was written.
    private var idleNoticeAt: MonotonicTime?
    private let reducer: ReducerAddress
    private let loop: String

    init(loop: String, workers: Int, reducer: ReducerAddress) {
        self.loop = loop
        self.reducer = reducer
        members = [.reducer] + (0..<workers).map { .worker($0 + 1) }
        var ofReducer = Supervisor.Policy()
        // If the reducer ends by itself, that is final, whatever its code.
        ofReducer.hopelessCodes = Set(0...255)
        for member in members {
            supervisors[member] = Supervisor(member == .reducer ? ofReducer : Self.ofWorkers)
        }
    }

    private static var ofWorkers: Supervisor.Policy {
        var policy = Supervisor.Policy()
        policy.hopelessCodes = [2, 64]
        return policy
    }

    /// Begins. Called once.
    mutating func begin(at now: MonotonicTime) -> [Action] {
        if members.count == 1 { idleNoticeAt = now }
        return members.flatMap { member in
            let action = supervisors[member]?.start(at: now) ?? .none
            return apply(action, to: member, at: now)
        } + advance(to: now)
    }

    /// Notes the end of a process.
    mutating func exited(_ member: Member, _ exit: ProcessExit, at now: MonotonicTime) -> [Action] {
        running.remove(member)
        let action = supervisors[member]?.exited(exit, at: now) ?? .none
        var actions: [Action] = []
        if case .working = state, case .signaled = exit {
            actions.append(.say("\(member) was ended by \(exit)\(remedy(for: member, at: now))"))
        }
        actions += apply(action, to: member, at: now)
        return actions + giveUpIfEnding(member, at: now) + settle(at: now)
    }

    /// Notes that a process could not be started.
    mutating func startFailed(_ member: Member, _ why: String, at now: MonotonicTime) -> [Action] {
        running.remove(member)
        let action = supervisors[member]?.startFailed(at: now) ?? .none
        let said = Action.say("\(member) could not be started: \(why)\(remedy(for: member, at: now))")
        return [said] + apply(action, to: member, at: now) + giveUpIfEnding(member, at: now) + settle(at: now)
    }

    /// In a group that ends, a process that has ended is not started again. It counts as a crash if it was killed.
    private mutating func giveUpIfEnding(_ member: Member, at now: MonotonicTime) -> [Action] {
        if case .working = state { return [] }
        return stopMember(member, at: now)
    }

    /// Requests the end. The first call ends the group gracefully, with code 0. The second kills it, with code 130.
    mutating func stop(at now: MonotonicTime) -> [Action] {
        switch state {
        case .working:
            return beginStopping(code: 0, at: now) + settle(at: now)
        case .closing(let code, _):
            state = .closing(code: code, next: nil)
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
        for member in members {
            let action = supervisors[member]?.advance(to: now) ?? .none
            actions += apply(action, to: member, at: now)
        }
        if let notice = idleNoticeAt, notice <= now, case .working = state {
            idleNoticeAt = nil
            actions.append(
                .say("no worker runs; start one by: loop-effect \(loop) --reducer \(reducer)"))
        }
        if case .closing(let code, let next?) = state, next.time <= now {
            switch next {
            case .terminate:
                state = .closing(code: code, next: .kill(at: now + Self.endLimit))
                for member in members where running.contains(member) { actions += stopMember(member, at: now) }
            case .kill:
                state = .closing(code: code, next: nil)
                actions += killAll()
            }
        }
        if case .stopping(let code, let reducerAt?) = state, reducerAt <= now {
            state = .stopping(code: code, reducerAt: nil)
            actions += stopMember(.reducer, at: now)
        }
        return actions + settle(at: now)
    }

    /// When ``advance(to:)`` has something to do, or nil for never.
    var deadline: MonotonicTime? {
        let own: MonotonicTime? =
            switch state {
            case .working: idleNoticeAt
            case .closing(_, let next): next?.time
            case .stopping(_, let reducerAt): reducerAt
            case .over: nil
            }
        return (supervisors.values.compactMap(\.deadline) + (own.map { [$0] } ?? [])).min()
    }

    // MARK: Consequences

    private mutating func apply(_ action: Supervisor.Action, to member: Member, at now: MonotonicTime) -> [Action] {
        switch action {
        case .none: return []
        case .start:
            running.insert(member)
            return [.start(member)] + (member == .reducer ? bringBackWorkers(at: now) : [])
        case .terminate: return [.terminate(member)]
        case .kill: return [.kill(member)]
        case .finish(let ending):
            guard case .working = state else { return [] }
            return member == .reducer ? reducerEnded(ending, at: now) : workerEnded(member, ending, at: now)
        }
    }

    /// Starts the workers again that left because the loop had ended, if the reducer starts again. It had ended before it gave its
    /// verdict.
    private mutating func bringBackWorkers(at now: MonotonicTime) -> [Action] {
        idleNoticeAt = members.count == 1 ? idleNoticeAt : nil
        return members.dropFirst().flatMap { member -> [Action] in
            guard case .done = supervisors[member]?.ending else { return [] }
            supervisors[member] = Supervisor(Self.ofWorkers)
            let action = supervisors[member]?.start(at: now) ?? .none
            return apply(action, to: member, at: now)
        }
    }

    private mutating func reducerEnded(_ ending: Supervisor.Ending, at now: MonotonicTime) -> [Action] {
        switch ending {
        case .done: return close(code: 0, at: now)
        case .hopeless(.exited(let code)): return close(code: code, at: now)
        case .hopeless, .stopped: return close(code: 2, at: now)
        case .gaveUp(let crashes, _):
            return [.say("gave up: the reducer crashed \(crashes) times")] + close(code: 2, at: now)
        }
    }

    /// Workers end by themselves when the loop has ended. Without a reducer they would wait in vain, so they are killed.
    private mutating func close(code: Int32, at now: MonotonicTime) -> [Action] {
        let isVerdict = code == 0 || code == 1
        state = .closing(code: code, next: isVerdict ? .terminate(at: now + Self.leaveLimit) : nil)
        var actions = isVerdict ? [] : killAll()
        // Processes that wait to be started again are not started.
        for member in members where !running.contains(member) {
            actions += apply(supervisors[member]?.stop(at: now) ?? .none, to: member, at: now)
        }
        return actions
    }

    private mutating func workerEnded(
        _ member: Member, _ ending: Supervisor.Ending, at now: MonotonicTime
    ) -> [Action] {
        var actions: [Action] = []
        if case .gaveUp(let crashes, _) = ending {
            actions.append(.say("gave up \(member): it crashed \(crashes) times"))
        }
        let endings = members.dropFirst().map { supervisors[$0]?.ending }
        guard endings.allSatisfy({ $0 != nil }) else { return actions }
        let code = endings.compactMap { $0?.failureCode }.max()
        if let code, endings.allSatisfy({ $0?.failureCode != nil }) {
            // Wrong usage, which the workers have reported.
            return actions + beginStopping(code: code, at: now)
        }
        idleNoticeAt = now + Self.idleLimit
        return actions
    }

    private mutating func beginStopping(code: Int32, at now: MonotonicTime) -> [Action] {
        let workersRun = running.contains { $0 != .reducer }
        state = .stopping(code: code, reducerAt: workersRun ? now + Self.handBackLimit : nil)
        var actions = members.dropFirst().flatMap { stopMember($0, at: now) }
        if !workersRun { actions += stopMember(.reducer, at: now) }
        return actions
    }

    private mutating func stopMember(_ member: Member, at now: MonotonicTime) -> [Action] {
        apply(supervisors[member]?.stop(at: now) ?? .none, to: member, at: now)
    }

    private func killAll() -> [Action] { members.filter(running.contains).map { .kill($0) } }

    /// Continues if the group was waiting for the end of a process.
    private mutating func settle(at now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        if case .stopping(let code, _?) = state, !running.contains(where: { $0 != .reducer }) {
            state = .stopping(code: code, reducerAt: nil)
            actions += stopMember(.reducer, at: now)
        }
        guard running.isEmpty else { return actions }
        switch state {
        case .closing(let code, _), .stopping(let code, _):
            state = .over
            return actions + [.finish(code)]
        case .working, .over:
            return actions
        }
    }

    private func remedy(for member: Member, at now: MonotonicTime) -> String {
        guard let supervisor = supervisors[member], supervisor.ending == nil, let again = supervisor.deadline else {
            return ""
        }
        return "; it starts again in \((again - now).wholeNanoseconds / 1_000_000) ms"
    }
}

extension Supervisor.Ending {
    /// The exit code for a final failure, or nil if it is none.
    fileprivate var failureCode: Int32? {
        switch self {
        case .hopeless(.exited(let code)): code
        case .hopeless, .gaveUp: 2
        case .done, .stopped: nil
        }
    }
}

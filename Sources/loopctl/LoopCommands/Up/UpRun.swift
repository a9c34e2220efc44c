import Linux
import LoopCore
import LoopCollections
import LoopNode
import LoopWire
import ZMQ

/// Runs a plan: starts its processes, performs the actions of the process group's machine, and shows the progress of the loop.
///
/// All events come through one queue, and are handled one at a time.
struct UpRun {
    private enum Mail: Sendable {
        case line(ProcessGroup.Member, ChildProcess.Channel, String)
        case exited(ProcessGroup.Member, ProcessExit)
        case status(StatusReport)
        case signal
        case due
    }

    private let plan: UpPlan
    private var console: Console
    private var processes: ProcessGroup
    private var meter = ProgressMeter()
    private var complaints: Complaints
    private var children: [ProcessGroup.Member: ChildProcess] = [:]
    private var isStopped = false
    private var stopSignals = StopSignals()
    private var armed: MonotonicTime?
    private let mail: AsyncStream<Mail>
    private let post: AsyncStream<Mail>.Continuation

    init(_ plan: UpPlan, console: Console) {
        self.plan = plan
        self.console = console
        complaints = Complaints(of: [plan.reducerProgram, plan.workerProgram])
        processes = ProcessGroup(loop: plan.loop, workers: plan.workers, reducer: plan.reducer)
        (mail, post) = AsyncStream.makeStream(of: Mail.self)
    }

    /// Runs until every process has ended, and returns the code to exit with.
    ///
    /// - Parameter line: the first line for people.
    consuming func run(_ signals: SignalPipe, saying line: String?) async -> Int32 {
        var run = self
        if let line { run.console.note(line) }
        return await run.live(signals)
    }

    private mutating func live(_ signals: SignalPipe) async -> Int32 {
        let post = post
        let relay: SignalThread
        var poller: StatusPoller?
        do {
            relay = try SignalThread(signals) { _ in post.yield(.signal) }
            if let interval = console.progressInterval {
                poller = try StatusPoller(plan.reducer, every: interval) { post.yield(.status($0)) }
            }
        } catch {
            console.error("loopctl: \(error)")
            return 2
        }
        defer {
            relay.end()
            poller?.end()
        }
        return await withTaskGroup(of: Void.self) { group in
            var code = perform(processes.begin(at: SystemClock.monotonic), &group)
            var mailbox = mail.makeAsyncIterator()
            while code == nil, let next = await mailbox.next() { code = perform(take(next), &group) }
            group.cancelAll()
            console.finish(failed: code != 0 && code != 1)
            if isStopped, code == 0, !console.hasOutput { console.note(farewell) }
            if let error = console.outputError, code == 0 || code == 1 {
                return ProgramFailure.code(of: error, in: "loopctl")
            }
            if code == 1, plan.exitsZero {
                console.error("the verdict is bad: see above")
                return 0
            }
            return code ?? 2
        }
    }

    /// The last line for a user who has stopped the loop before there was an outcome.
    private var farewell: String {
        guard let journal = plan.journal else { return "stopped; nothing was kept" }
        return "stopped; the loop is kept in \(journal), and the same command continues it"
    }

    private mutating func take(_ mail: Mail) -> [ProcessGroup.Action] {
        let now = SystemClock.monotonic
        switch mail {
        case .line(_, .output, let text): console.output(text)
        case .line(let member, .errors, let text): if complaints.shows(text, from: member) { console.said(text) }
        case .status(let report):
            if let reading = meter.take(report, at: now) { console.progress(reading) }
        case .exited(let member, let exit):
            children[member] = nil
            return processes.exited(member, exit, at: now)
        case .signal:
            guard stopSignals.take(at: now) != .same else { return [] }
            isStopped = true
            return processes.stop(at: now)
        case .due:
            armed = nil
            return processes.advance(to: now)
        }
        return []
    }

    /// Performs actions, and returns the code to exit with if the group is over.
    private mutating func perform(_ actions: [ProcessGroup.Action], _ group: inout TaskGroup<Void>) -> Int32? {
        var actions = actions[...]
        while let action = actions.popFirst() {
            switch action {
            case .start(let member):
                do {
                    try start(member, &group)
                } catch {
                    actions += processes.startFailed(member, "\(error)", at: SystemClock.monotonic)
                }
            case .terminate(let member): children[member]?.terminate()
            case .kill(let member): children[member]?.kill()
            case .say(let text): console.error("loopctl: \(text)")
            case .finish(let code): return code
            }
        }
        arm(&group)
        return nil
    }

    private mutating func start(_ member: ProcessGroup.Member, _ group: inout TaskGroup<Void>) throws {
        let post = post
        let isReducer = member == .reducer
        let child = try ChildProcess(
            .init(
                isReducer ? plan.reducerProgram : plan.workerProgram, arguments(of: member),
                environment: plan.environment,
                output: .lines { post.yield(.line(member, isReducer ? $0 : .errors, $1)) }, ownGroup: true))
        children[member] = child
        group.addTask { post.yield(.exited(member, await child.wait())) }
    }

    private func arguments(of member: ProcessGroup.Member) -> [String] {
        switch member {
        case .reducer: plan.reducerArguments
        case .worker(let number): plan.workerArguments(number)
        }
    }

    /// Schedules a call at the machine's deadline, because the machine may wait only for a time. If an earlier deadline has
    /// replaced that of a task, the machine gets the time once more, which does no harm.
    private mutating func arm(_ group: inout TaskGroup<Void>) {
        guard let deadline = processes.deadline, armed.map({ deadline < $0 }) ?? true else { return }
        armed = deadline
        let post = post
        let wait = deadline - SystemClock.monotonic
        group.addTask {
            // The time until a process must be started or killed.
            if (try? await Task.sleep(for: max(wait, .zero))) != nil { post.yield(.due) }
        }
    }
}

/// The lines in which processes say why they cannot run. The reducer and the workers often have one reason, which is shown once.
struct Complaints: Equatable {
    private var first: [String: ProcessGroup.Member] = [:]
    /// The names of the programs, with which such lines begin.
    private let programs: [String]

    private static let countMax = 64

    /// - Parameter programs: the programs, as they are started.
    init(of programs: [String]) {
        self.programs = programs.map { String($0.split(separator: "/").last ?? "") }
    }

    /// Whether to show a line: it gives no such reason, or no other process has given it.
    mutating func shows(_ line: String, from member: ProcessGroup.Member) -> Bool {
        guard let program = programs.first(where: { line.hasPrefix("\($0): ") }) else { return true }
        let text = String(line.dropFirst(program.count + 2))
        if let other = first[text] { return other == member }
        if first.count < Self.countMax { first[text] = member }
        return true
    }
}

/// Asks the reducer for its status repeatedly, on a thread of its own, until it is stopped.
final class StatusPoller: Sendable {
    private let isOver = Monitor(false)

    /// - Parameter take: called with each report, on the poller's thread.
    init(
        _ reducer: ReducerAddress, every interval: Duration, take: @escaping @Sendable (StatusReport) -> Void
    ) throws {
        let isOver = isOver
        let context = try ZMQContext()
        _ = try NodeThread("loop-status") {
            while !isOver.wait(until: { $0 }, timeout: interval) {
                // A reducer that does not answer is starting, ending or crashed. The end of its process shows which.
                if let report = try? StatusProbe.ask(reducer, within: .seconds(1), context: context) { take(report) }
            }
        }
    }

    func end() {
        isOver.withLock { $0 = true }
        isOver.broadcast()
    }
}

import LoopCore
import LoopWire

/// The list of live effects for operators, with the reason why each of them waits.
extension ReducerMachine {
    private static var listedMax: Int { 10_000 }
    private static var requestBytesMax: Int { 4 << 20 }

    func listedEffects(_ selection: EffectSelection) -> AdministrationAnswer {
        var only: EffectID?
        if let text = selection.effect {
            guard let id = EffectID(text) else {
                return .refused("\"\(text.prefix(64))\" names no effect; names look like 0.57.0, see: loopctl effects")
            }
            guard journaled.effects[id] != nil else {
                return .refused("the effect \(id) is not wanted by the state (any more); see: loopctl effects")
            }
            only = id
        }
        if let name = selection.feedback, !journaled.loop.feedbacks.contains(where: { $0.name == name }) {
            let names = journaled.loop.feedbacks.map { "\"\($0.name)\"" }.joined(separator: ", ")
            return .refused("the loop has no feedback \"\(name.prefix(64))\"; it has \(names)")
        }
        let silent = admission.members.silent(at: context.now.monotonic)
        var chosen: [(id: EffectID, place: Int, state: ListedEffect.State)] = []
        for (place, id) in journaled.effects.places where only.map({ $0 == id }) ?? true {
            let state = state(at: place, silent)
            guard selection.state.map({ $0 == state }) ?? true,
                selection.feedback.map({ $0 == journaled.feedbackName(of: id) }) ?? true
            else { continue }
            chosen.append((id, place, state))
        }
        chosen.sort { $0.id < $1.id }
        let listed = chosen.prefix(min(max(selection.max, 0), Self.listedMax))
        var room = Self.requestBytesMax
        let effects = listed.map { id, place, state in
            let effect = journaled.effects[at: place]
            let (reason, text) = reason(of: id, at: place, state) ?? reasonByWorkers(id)
            room -= effect.request.count
            return ListedEffect(
                effect: id.description, feedback: journaled.feedbackName(of: id), state: state, reason: reason,
                text: text,
                seq: effect.version.value,
                waitMilliseconds: state == .waiting && !timers.isTimer(id) ? waitMilliseconds(at: place) : nil,
                failures: Int(effect.failures), request: room >= 0 ? effect.request : [],
                requestBytes: effect.request.count)
        }
        return .effects(effects, others: chosen.count - effects.count)
    }

    func state(at place: Int, _ silent: Set<SessionID>) -> ListedEffect.State {
        switch journaled.effects[at: place].status {
        case .open: dispatch.owner(at: place).map { !silent.contains($0.session) } ?? false ? .running : .waiting
        case .completed: .completed
        case .parked: .parked
        }
    }

    /// Why an effect is in its state, or nil if it only waits for a worker.
    /// - Parameter inWords: whether the text is wanted too.
    func reason(
        of id: EffectID, at place: Int, _ state: ListedEffect.State, inWords: Bool = true
    ) -> (ListedEffect.Reason, String)? {
        func words(_ text: @autoclosure () -> String) -> String { inWords ? text() : "" }
        let effect = journaled.effects[at: place]
        switch effect.status {
        case .completed: return (.done, "it has completed, and the state still asks for it")
        case .parked(let message): return (.failed, message)
        case .open: break
        }
        if let owner = dispatch.owner(at: place) {
            let member = admission.members[owner.session]
            let peer = member.map { "the worker \($0.name.isEmpty ? "\($0.peer)" : "\"\($0.name)\" (\($0.peer))")" }
            let worker = words(peer ?? "a worker")
            return state == .running
                ? (.runs, words("\(worker) runs attempt \(owner.attempt)"))
                : (
                    .silent,
                    words("\(worker) has attempt \(owner.attempt), is not heard, and no other worker can run it")
                )
        }
        if timers.isTimer(id) {
            return (.timer, words(timers.queue[id].map { "it is due at \($0.civilText)" } ?? "its time cannot be read"))
        }
        if let loss = phase.loss { return (.ended, words(loss.description)) }
        if phase.hasEnded { return (.ended, "the loop has ended") }
        let now = context.now.monotonic
        if phase.isUnclaimed(id), let grace = phase.grace {
            return (
                .unclaimed,
                words(
                    "a worker may run it since before the reducer's start; unless one says so, it is granted in"
                        + " \(text(until: grace.ends))")
            )
        }
        switch dispatch.scheduler.obstacle(at: place, now) {
        case .delay:
            let wait = effect.retry?.wait(from: context.clock.wall(after: journaled.time)) ?? .zero
            return (
                .retry, words("it is tried again in \(wait.text), after \(count(Int(effect.failures), "failure"))")
            )
        case .concurrency(let limit):
            return (.concurrency, words("its feedback runs \(count(limit, "effect")), as many as it may"))
        case .rate(let until):
            return (.rate, words("the rate of its feedback lets the next one start in \(text(until: until))"))
        case .groupConcurrency(let name, let limit):
            return (
                .groupConcurrency,
                words("its limit group \"\(name)\" runs \(count(limit, "effect")), as many as it may")
            )
        case .groupRate(let name, let until):
            return (
                .groupRate,
                words("the rate of its limit group \"\(name)\" lets the next one start in \(text(until: until))")
            )
        case nil: return nil
        }
    }

    /// Why an effect that may start has not been granted.
    func reasonByWorkers(_ id: EffectID) -> (ListedEffect.Reason, String) {
        let group = journaled.table.group(id.feedback)
        let now = context.now.monotonic
        var (workersCount, held, capacity) = (0, 0, 0)
        for (_, member) in admission.members where member.canHold(id.feedback, in: group, at: now) {
            workersCount += 1
            held += member.holding.count
            capacity += member.capacity
        }
        let workers =
            workersCount == 1
            ? "the worker of the group \"\(group)\"" : "the \(workersCount) workers of the group \"\(group)\""
        if workersCount == 0 {
            return (.noWorker, "no worker that is heard serves it; it is in the group \"\(group)\"")
        }
        if held >= capacity {
            return (
                .workersFull,
                "\(workers) \(workersCount == 1 ? "holds" : "hold") \(count(held, "effect")), as many as may be held"
            )
        }
        return (
            .next,
            "it is granted next; \(workers) \(workersCount == 1 ? "holds" : "hold") \(held) of \(count(capacity, "effect"))"
        )
    }

    private func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    private func text(until time: MonotonicTime) -> String {
        let now = context.now.monotonic
        return (time > now ? time - now : .zero).text
    }
}

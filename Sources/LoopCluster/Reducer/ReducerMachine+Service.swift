import LoopCore
import LoopWire

/// Warnings about effects that no worker serves, and about workers that serve nothing.
extension ReducerMachine {
    /// Reports feedbacks that no worker serves, and those that are served again. Called at each tick.
    mutating func tellUnserved() {
        // If nothing is granted, nothing is served again.
        guard phase.grants else { return }
        let (new, served) = unserved.review(unservedFeedbacks, at: context.now.monotonic)
        for feedback in new { turn.news.append(.unserved(news(of: feedback))) }
        for (feedback, duration) in served { turn.news.append(.served(news(of: feedback), after: duration)) }
    }

    /// Reports a worker that has joined with groups that have no feedbacks.
    mutating func tellIdle(_ session: SessionID) {
        guard let member = admission.members[session], let news = news(of: session),
            let reason = objection(to: member, placedGroups)
        else { return }
        turn.news.append(.idle(news, reason))
    }

    /// One line for each feedback that is not served, and for each of the first workers that name groups without feedbacks.
    var serviceWarnings: [String] {
        let unserved = unservedFeedbacks.map { news(of: $0).text }
        let groups = placedGroups
        let idle = admission.members.keys.sorted().lazy.compactMap { session -> String? in
            guard let member = admission.members[session], let reason = objection(to: member, groups) else {
                return nil
            }
            return "the worker \"\(member.name)\" (\(member.peer)) serves less than it names: \(reason)"
        }
        return unserved + idle.prefix(Self.idleMax)
    }

    private static var idleMax: Int { 10 }

    /// The numbers of the feedbacks that no worker with a valid lease serves, and whose effects wait or belong to silent workers.
    private var unservedFeedbacks: [UInt32] {
        guard phase.grants else { return [] }
        let held = heldInSilence
        return journaled.table.numbers.filter { number in
            let group = journaled.table.group(number)
            let effects = dispatch.scheduler.waitingCount(of: number) + held[number, default: 0]
            guard group != localGroup, group != reducerGroup, effects > 0 else { return false }
            return !admission.members.contains { isHeard($0.value) && $0.value.serves(number, in: group) }
        }
    }

    private func news(of feedback: UInt32) -> NewsOfUnserved {
        let group = journaled.table.group(feedback)
        return NewsOfUnserved(
            feedback: journaled.table.names[Int(feedback)], group: group,
            effects: dispatch.scheduler.waitingCount(of: feedback) + heldInSilence[feedback, default: 0],
            others: admission.members.count {
                isHeard($0.value) && $0.value.groups.contains(group) && !$0.value.serves(feedback, in: group)
            })
    }

    private var heldInSilence: [UInt32: Int] {
        dispatch.heldInSilence(admission.members, journaled, at: context.now.monotonic)
    }

    /// Whether a member is a worker with a valid lease.
    private func isHeard(_ member: Member) -> Bool { member.capacity > 0 && member.leaseEnds > context.now.monotonic }

    private var placedGroups: PlacedGroups { PlacedGroups(placements: journaled.loop.feedbacks.map(\.placement)) }

    /// What is wrong with the groups that a worker names, or nil if nothing is, or if the member is no worker.
    private func objection(to member: Member, _ groups: PlacedGroups) -> String? {
        guard member.peer != .local, member.capacity > 0 || !member.groups.isEmpty else { return nil }
        if let objection = groups.objection(to: member.groups) { return objection }
        let serves = journaled.table.numbers.contains { member.serves($0, in: journaled.table.group($0)) }
        return serves ? nil : "its join request lists no feedback of its groups"
    }
}

/// The feedbacks whose effects wait while no worker serves them.
struct UnservedFeedbacks: Sendable {
    /// How long effects may wait for a worker before that is reported.
    private static let patience = Duration.seconds(5)

    private struct Since: Sendable {
        let time: MonotonicTime
        var isTold = false
    }

    private var since: [UInt32: Since] = [:]

    /// Notes which feedbacks are unserved now.
    /// - Parameter unserved: the numbers of the feedbacks, in order.
    /// - Returns: the feedbacks to report now, and those that were reported and are served again.
    mutating func review(
        _ unserved: [UInt32], at now: MonotonicTime
    ) -> (new: [UInt32], served: [(feedback: UInt32, after: Duration)]) {
        var served: [(feedback: UInt32, after: Duration)] = []
        for (feedback, known) in since.sorted(by: { $0.key < $1.key }) where !unserved.contains(feedback) {
            since[feedback] = nil
            if known.isTold { served.append((feedback, now - known.time)) }
        }
        var new: [UInt32] = []
        for feedback in unserved {
            var known = since[feedback] ?? Since(time: now)
            if !known.isTold, now - known.time >= Self.patience {
                known.isTold = true
                new.append(feedback)
            }
            since[feedback] = known
        }
        return (new, served)
    }
}

/// The groups in which a loop places effects, for comparison with those that a worker names.
package struct PlacedGroups: Sendable {
    /// The groups of the loop's workers, in order.
    package let all: [String]

    package init(placements: some Sequence<String>) {
        all = Set(placements).subtracting([localGroup, reducerGroup]).sorted()
    }

    /// What is wrong with the groups that a worker names, and the remedy, or nil if each of them has a feedback.
    package func objection(to groups: [String]) -> String? {
        if all.isEmpty { return "the loop places no effects on workers; give a feedback .on(.workers)" }
        let others = groups.filter { !all.contains($0) }
        if groups.isEmpty { return "it names no group; the loop has \(Self.list(all))" }
        guard !others.isEmpty else { return nil }
        return "no feedback is in \(Self.list(others)); the loop has \(Self.list(all)) (--group)"
    }

    private static func list(_ groups: [String]) -> String {
        let names = groups.prefix(5).map { "\"\($0)\"" }.joined(separator: ", ")
        let more = groups.count > 5 ? " and \(groups.count - 5) more" : ""
        return "the \(groups.count == 1 ? "group" : "groups") \(names)\(more)"
    }
}

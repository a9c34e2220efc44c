import LoopCore
import LoopWire

/// The free capacity of each member, during one round of grants.
struct FreeCapacity {
    typealias Taker = (session: SessionID, index: Int)

    private struct Place {
        let taker: Taker
        let groups: [String]
        let feedbacks: Set<UInt32>
        let capacity: Int
        var used: Int
        /// The part of its capacity that is in use, from 0 to 1.
        var share: Double

        mutating func take() {
            used += 1
            share = Double(used) / Double(capacity)
        }
    }

    private var places: [Place] = []
    /// The indices in `places` of the members that can run effects of a feedback, by its number, once computed.
    private var able: [[Int]?]
    /// The result of the last search for capacity, until it is taken.
    private var found: (feedback: UInt32, place: Int)?
    private let table: FeedbackTable

    init(_ members: Members, window: UInt64, table: FeedbackTable, at now: MonotonicTime) {
        self.table = table
        able = Array(repeating: nil, count: table.names.count)
        for session in members.keys.sorted() {
            guard let index = members.index(forKey: session) else { continue }
            let member = members[at: index]
            guard member.hasJoined, member.leaseEnds > now, member.holding.count < member.capacity,
                member.inbox.isOpen(window: window), !member.inbox.needsAssignments
            else { continue }
            places.append(
                Place(
                    taker: (session, index), groups: member.groups, feedbacks: member.feedbacks,
                    capacity: member.capacity,
                    used: member.holding.count, share: Double(member.holding.count) / Double(member.capacity)))
        }
    }

    /// The index of the member with the smallest share in use, or the first of several.
    private mutating func best(for feedback: UInt32) -> Int? {
        guard feedback < able.count else { return nil }
        if able[Int(feedback)] == nil { able[Int(feedback)] = members(for: feedback) }
        var best: Int?
        for place in able[Int(feedback)] ?? [] where places[place].used < places[place].capacity {
            if best.map({ places[place].share < places[$0].share }) ?? true { best = place }
        }
        return best
    }

    private func members(for feedback: UInt32) -> [Int] {
        let group = table.group(feedback)
        return places.indices.filter {
            places[$0].groups.contains(group) && places[$0].feedbacks.contains(feedback)
        }
    }

    mutating func hasCapacity(for feedback: UInt32) -> Bool {
        found = best(for: feedback).map { (feedback, $0) }
        return found != nil
    }

    /// Takes capacity of the member of the feedback's group with the smallest share in use.
    mutating func take(_ feedback: UInt32) -> Taker? {
        let known = found.take()
        guard let best = known?.feedback == feedback ? known?.place : best(for: feedback) else { return nil }
        places[best].take()
        return places[best].taker
    }
}

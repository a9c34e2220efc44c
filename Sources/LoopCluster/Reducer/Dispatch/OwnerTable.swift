import LoopCollections
import LoopWire

/// The session and the attempt that may commit an effect's entries.
struct Ownership: Equatable, Sendable {
    let session: SessionID
    let attempt: Attempt
}

/// The owners of the live effects, by place, so that an effect whose place is known is found without a search.
///
/// The effects of one member are found by a scan. That is rare: it happens when the member leaves, falls silent, or asks for
/// its assignment. A linked list for each member would touch its neighbours whenever an effect begins or ends.
struct OwnerTable: Sendable {
    private struct Record {
        /// The owner's attempt, or `.none` if the effect has no owner.
        var attempt = Attempt.none
        var session = SessionID.none
    }

    private var records: [Record] = []
    /// How many effects have an owner.
    private(set) var count = 0

    /// The owner of the effect at a place, or nil if it has none.
    subscript(place: Int) -> Ownership? {
        guard place < records.count, records[place].attempt != .none else { return nil }
        return Ownership(session: records[place].session, attempt: records[place].attempt)
    }

    /// Gives an owner to the effect at a place, which has none.
    /// - Parameter holding: the number of effects of the new owner.
    mutating func give(_ place: Int, to owner: Ownership, _ holding: inout Holding) {
        while records.count <= place { records.append(Record()) }
        precondition(records[place].attempt == .none, "the effect at \(place) was to be given to two")
        records[place] = Record(attempt: owner.attempt, session: owner.session)
        holding.count += 1
        holding.givenCount &+= 1
        count += 1
    }

    /// Removes the owner of the effect at a place, which has one.
    /// - Parameter holding: the number of effects of its owner.
    mutating func take(_ place: Int, _ holding: inout Holding) {
        records[place] = Record()
        holding.count -= 1
        count -= 1
    }

    /// The places of all effects that a session owns.
    func places(of session: SessionID, _ holding: Holding) -> [Int] {
        if holding.isEmpty { return [] }
        return records.indices.filter { records[$0].session == session && records[$0].attempt != .none }
    }

    /// The places of all effects that any of these sessions owns, with the owner's session.
    func places(ofAny sessions: Set<SessionID>) -> [(place: Int, session: SessionID)] {
        if sessions.isEmpty { return [] }
        return records.indices.compactMap { place in
            let record = records[place]
            return record.attempt != .none && sessions.contains(record.session) ? (place, record.session) : nil
        }
    }

    mutating func removeAll() { self = OwnerTable() }
}

/// How many effects a member has.
struct Holding: Equatable, Sendable {
    fileprivate(set) var count = 0
    /// How many effects it was ever given.
    fileprivate(set) var givenCount: UInt64 = 0

    var isEmpty: Bool { count == 0 }
}

import LoopCollections
import LoopCore
import LoopWire

/// The session and the attempt that may commit an effect's entries.
struct Ownership: Equatable, Sendable {
    let session: SessionID
    let attempt: Attempt
}

/// The owners of the live effects, by place: an effect that was found there need not be searched for here.
///
/// What one member holds is looked for among all, which is rare: when it leaves, falls silent, or asks for its assignment. A chain of
/// what each holds would touch its neighbours whenever an effect begins or ends.
struct OwnerTable: Sendable {
    private struct Record {
        /// `.none`: the effect has no owner.
        var attempt = Attempt.none
        var session = SessionID.none
    }

    private var records: [Record] = []
    /// How many effects have an owner.
    private(set) var count = 0

    /// The owner of the effect at a place; nil: it has none.
    subscript(place: Int) -> Ownership? {
        guard place < records.count, records[place].attempt != .none else { return nil }
        return Ownership(session: records[place].session, attempt: records[place].attempt)
    }

    /// Fetches what is at a place into the processor's cache.
    func fetch(_ place: Int) { ProcessorCache.fetch(records, at: place) }

    /// Gives the effect at a place, which has no owner, to one.
    /// - Parameter holding: what the new owner holds.
    mutating func give(_ place: Int, to owner: Ownership, _ holding: inout Holding) {
        while records.count <= place { records.append(Record()) }
        precondition(records[place].attempt == .none, "the effect at \(place) was to be given to two")
        records[place] = Record(attempt: owner.attempt, session: owner.session)
        holding.count += 1
        holding.givenCount &+= 1
        count += 1
    }

    /// The effect at a place, which has an owner, has none from here on.
    /// - Parameter holding: what its owner holds.
    mutating func take(_ place: Int, _ holding: inout Holding) {
        records[place] = Record()
        holding.count -= 1
        count -= 1
    }

    /// The places of all effects that a session holds, as many as it does.
    func places(of session: SessionID, _ holding: Holding) -> [Int] {
        if holding.isEmpty { return [] }
        return records.indices.filter { records[$0].session == session && records[$0].attempt != .none }
    }

    /// The places of all effects that any of these sessions holds, with who holds it.
    func places(ofAny sessions: Set<SessionID>) -> [(place: Int, session: SessionID)] {
        if sessions.isEmpty { return [] }
        return records.indices.compactMap { place in
            let record = records[place]
            return record.attempt != .none && sessions.contains(record.session) ? (place, record.session) : nil
        }
    }

    mutating func removeAll() { self = OwnerTable() }
}

/// How many effects a member holds.
struct Holding: Equatable, Sendable {
    fileprivate(set) var count = 0
    /// How many it was ever given.
    fileprivate(set) var givenCount: UInt64 = 0

    var isEmpty: Bool { count == 0 }
}

import LoopCollections
import LoopCore
import LoopWire

/// Who may commit an effect's entries.
struct Ownership: Equatable, Sendable {
    let session: SessionID
    let attempt: Attempt
}

/// Who runs each effect, by the place of the effect among the live ones: what is found there need not be searched for here.
///
/// What one member holds is looked for among all, which is rare: when it leaves, falls silent, or has to be told. A chain of
/// what each holds would touch its neighbours whenever an effect begins or ends.
struct OwnerTable: Sendable {
    private struct Record {
        /// `.none`: nobody runs the effect.
        var attempt = Attempt.none
        var session = SessionID.none
    }

    private var records: [Record] = []
    /// How many effects somebody runs.
    private(set) var count = 0

    /// Who runs the effect at a place.
    subscript(place: Int) -> Ownership? {
        guard place < records.count, records[place].attempt != .none else { return nil }
        return Ownership(session: records[place].session, attempt: records[place].attempt)
    }

    /// Fetches what is at a place into the processor's cache.
    func fetch(_ place: Int) {
        guard place < records.count else { return }
        records.withUnsafeBufferPointer { ProcessorCache.fetch($0.baseAddress.map { $0 + place }) }
    }

    /// Gives the effect at a place, which nobody runs, to somebody.
    /// - Parameter holding: what the new owner holds.
    mutating func give(_ place: Int, to owner: Ownership, _ holding: inout Holding) {
        while records.count <= place { records.append(Record()) }
        precondition(records[place].attempt == .none, "the effect at \(place) was to be given to two")
        records[place] = Record(attempt: owner.attempt, session: owner.session)
        holding.count += 1
        holding.givenCount &+= 1
        count += 1
    }

    /// Nobody runs the effect at a place any more, which somebody does.
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

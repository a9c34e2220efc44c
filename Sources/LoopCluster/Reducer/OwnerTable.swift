import LoopCore
import LoopWire

/// Who may commit an effect's entries.
struct Ownership: Equatable, Sendable {
    let session: SessionID
    let attempt: Attempt
}

/// Who runs each effect, by the place of the effect among the live ones: what is found there need not be searched for here.
///
/// The effects that one member holds are a chain, which begins in its `Holding`:
///
///     holding.first ──▶ place ◀─▶ place ◀─▶ place
struct OwnerTable: Sendable {
    private struct Record {
        /// `.none`: nobody runs the effect.
        var attempt = Attempt.none
        var session = SessionID.none
        /// Neighbours in the chain; -1: none.
        var previous: Int32 = -1
        var next: Int32 = -1
    }

    private var records: [Record] = []
    /// How many effects somebody runs.
    private(set) var count = 0

    /// Who runs the effect at a place, which may be any number.
    subscript(place: Int) -> Ownership? {
        guard place >= 0, place < records.count, records[place].attempt != .none else { return nil }
        return Ownership(session: records[place].session, attempt: records[place].attempt)
    }

    /// Gives the effect at a place, which nobody runs, to somebody.
    /// - Parameter holding: what the new owner holds.
    mutating func give(_ place: Int, to owner: Ownership, _ holding: inout Holding) {
        while records.count <= place { records.append(Record()) }
        precondition(records[place].attempt == .none, "the effect at \(place) was to be given to two")
        records[place] = Record(attempt: owner.attempt, session: owner.session, previous: -1, next: holding.first)
        if holding.first >= 0 { records[Int(holding.first)].previous = Int32(place) }
        holding.first = Int32(place)
        holding.count += 1
        count += 1
    }

    /// Nobody runs the effect at a place any more, which somebody does.
    /// - Parameter holding: what its owner holds.
    mutating func take(_ place: Int, _ holding: inout Holding) {
        let (previous, next) = (records[place].previous, records[place].next)
        if previous >= 0 { records[Int(previous)].next = next } else { holding.first = next }
        if next >= 0 { records[Int(next)].previous = previous }
        records[place] = Record()
        holding.count -= 1
        count -= 1
    }

    /// The places of all effects that somebody holds.
    func places(of holding: Holding) -> [Int] {
        var places: [Int] = []
        places.reserveCapacity(holding.count)
        var place = holding.first
        while place >= 0 {
            places.append(Int(place))
            place = records[Int(place)].next
        }
        return places
    }

    mutating func removeAll() { self = OwnerTable() }
}

/// The effects that a member holds: how many, and where its chain in the `OwnerTable` begins.
struct Holding: Equatable, Sendable {
    fileprivate(set) var count = 0
    fileprivate var first: Int32 = -1

    var isEmpty: Bool { count == 0 }
}

/// What a query must remember to go on in another process: which effects it has started, and for what.
///
/// What a query wants now is not part of it: that is a function of the state.
package indirect enum QueryMemory: Equatable, Sendable {
    /// One effect and what it was started for.
    package struct Remembered: Equatable, Sendable {
        /// The encoded request of a switching query, the encoded key of a keyed one.
        package var bytes: [UInt8]
        package var id: EffectID

        package init(bytes: [UInt8], id: EffectID) {
            self.bytes = bytes
            self.id = id
        }
    }

    /// Of a query with at most one live effect.
    case single(Remembered?)
    /// Of a query with one live effect for each key, by effect ID.
    case keyed([Remembered])
    /// Of a query of a part: nil while the part is not there.
    case part(QueryMemory?)

    /// Every effect the query has started and not cancelled.
    package var effects: [EffectID] {
        switch self {
        case .single(let one): one.map { [$0.id] } ?? []
        case .keyed(let all): all.map(\.id)
        case .part(let base): base?.effects ?? []
        }
    }

    /// The memory of the innermost part; nil where that is not there.
    var innermost: QueryMemory? {
        if case .part(let base) = self { return base?.innermost }
        return self
    }
}

/// A query cannot be remembered, or a memory is not one of this query.
package struct QueryMemoryError: Error, Equatable, Sendable, CustomStringConvertible {
    package var reason: String

    package init(_ reason: String) { self.reason = reason }

    package var description: String { reason }

    static func notCodable<Value>(_ type: Value.Type, _ role: String) -> QueryMemoryError {
        QueryMemoryError("its \(role) are of type \(type), which is not Codable")
    }

    static let otherForm = QueryMemoryError("what it remembers is of another form of feedback")
}

/// The memory that a query needs to continue in another process: its effects, and the request or key of each.
///
/// The present requests are not part of it, because they are a function of the state.
@usableFromInline
package indirect enum QueryMemory: Equatable, Sendable {
    /// One effect and the request or key that it was started for.
    @usableFromInline
    package struct Remembered: Equatable, Sendable {
        /// The encoded request of a switching query, or the encoded key of a keyed one.
        package var bytes: [UInt8]
        package var id: EffectID

        package init(bytes: [UInt8], id: EffectID) {
            self.bytes = bytes
            self.id = id
        }
    }

    /// The memory of a query with at most one live effect.
    case single(Remembered?)
    /// The memory of a query with one live effect for each key, sorted by effect ID.
    case keyed([Remembered])
    /// The memory of a part's query, or nil while the part does not exist.
    case part(QueryMemory?)

    /// Every effect that the query has started and not cancelled.
    package var effects: [EffectID] {
        switch self {
        case .single(let one): one.map { [$0.id] } ?? []
        case .keyed(let all): all.map(\.id)
        case .part(let base): base?.effects ?? []
        }
    }

    /// The memory of the innermost part, or nil if that part does not exist.
    var innermost: QueryMemory? {
        if case .part(let base) = self { return base?.innermost }
        return self
    }
}

/// An error: a query cannot be remembered, or a memory does not fit this query.
package struct QueryMemoryError: Error, Equatable, Sendable, CustomStringConvertible {
    package var reason: String

    package init(_ reason: String) { self.reason = reason }

    package var description: String { reason }

    static func notCodable<Value>(_ type: Value.Type, _ role: String) -> QueryMemoryError {
        QueryMemoryError("its \(role) are of type \(type), which is not Codable")
    }

    static let otherForm = QueryMemoryError("what it remembers is of another form of feedback")
}

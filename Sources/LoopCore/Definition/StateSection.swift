/// A section of a definition's state: a part of it under a name, which an observer can follow alone.
///
///     var sections: [StateSection<State>] { [StateSection("queue", \.queue)] }
///
/// Whoever follows it gets an update only when its encoding has changed, and nothing else of the state.
public struct StateSection<State: Sendable>: Sendable {
    /// Unique within the loop; not empty.
    public let name: String
    /// The section as a value of its own type.
    package let reading: any SectionReading<State>

    /// - Parameters:
    ///   - name: by which observers ask for it.
    ///   - path: where it is in the state.
    public init<Value: Codable & Sendable>(_ name: String, _ path: any KeyPath<State, Value> & Sendable) {
        self.init(name) { $0[keyPath: path] }
    }

    /// - Parameters:
    ///   - name: by which observers ask for it.
    ///   - value: a function of the state and nothing else.
    public init<Value: Codable & Sendable>(_ name: String, _ value: @escaping @Sendable (State) -> Value) {
        self.name = name
        reading = Reading(read: value)
    }

    private struct Reading<Value: Codable & Sendable>: SectionReading {
        let read: @Sendable (State) -> Value

        func value(in state: State) -> Value { read(state) }
    }
}

/// A section whose type is known to whoever opens it.
package protocol SectionReading<State>: Sendable {
    associatedtype State
    associatedtype Value: Codable & Sendable

    func value(in state: State) -> Value
}

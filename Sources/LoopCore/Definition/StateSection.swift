/// A named part of a definition's state that an observer can follow alone.
///
///     var sections: [StateSection<State>] { [StateSection("queue", \.queue)] }
///
/// An observer of a section gets an update only when the section's encoding has changed, and nothing else of the state.
public struct StateSection<State: Sendable>: Sendable {
    /// The name, unique within the loop and not empty.
    public let name: String
    /// The function that reads the section as a value of its own type.
    package let reading: any SectionReading<State>

    /// - Parameters:
    ///   - name: the name by which observers request it.
    ///   - path: the key path from the state to the section.
    public init<Value: Codable & Sendable>(_ name: String, _ path: any KeyPath<State, Value> & Sendable) {
        self.init(name) { $0[keyPath: path] }
    }

    /// - Parameters:
    ///   - name: the name by which observers request it.
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

/// A section whose value type is known to the caller that opens it.
package protocol SectionReading<State>: Sendable {
    associatedtype State
    associatedtype Value: Codable & Sendable

    func value(in state: State) -> Value
}

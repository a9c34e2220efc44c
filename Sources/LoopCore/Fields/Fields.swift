/// A change of a registered field. Over a remote loop, `mutate` and `binding(for:)` send one inside one of the definition's
/// own events.
public struct FieldChange: Codable, Hashable, Sendable {
    /// The name under which the definition has registered the field.
    public var field: String
    /// The field's new value. The reducer ignores the change if it is of another kind than the field.
    public var value: FieldValue

    /// Creates a change from its parts.
    public init(field: String, value: FieldValue) {
        self.field = field
        self.value = value
    }
}

/// One field of a state, under a name that crosses processes in place of its key path.
public struct Field<State: Sendable>: Sendable {
    /// The name, which must not change while journals contain changes of the field.
    public let name: String
    let keyPath: any PartialKeyPath<State> & Sendable
    let encode: @Sendable (any Sendable) -> FieldValue?
    let write: @Sendable (inout State, FieldValue) -> Bool

    /// Creates a field from its name and its key path.
    /// - Parameters:
    ///   - name: unique in the definition. Journals and other processes identify the field by it.
    ///   - keyPath: the path from the state to the field.
    public init<Value: FieldValueConvertible>(
        _ name: String, _ keyPath: any WritableKeyPath<State, Value> & Sendable
    ) {
        self.name = name
        self.keyPath = keyPath
        encode = { ($0 as? Value)?.fieldValue }
        write = { state, value in
            guard let value = Value(fieldValue: value) else { return false }
            state[keyPath: keyPath] = value
            return true
        }
    }
}

/// The fields of a state that other processes can change.
public struct Fields<State: Sendable>: Sendable, ExpressibleByArrayLiteral {
    private let all: [Field<State>]

    /// Creates the fields of a definition. If two have one name, changes apply to the first.
    public init(_ fields: [Field<State>]) { all = fields }

    /// Creates the fields of a definition from a literal. If two have one name, changes apply to the first.
    public init(arrayLiteral fields: Field<State>...) { self.init(fields) }

    /// Applies a change to the state, in a reducer. If there is no such field, or it is of another type, it returns false
    /// and changes nothing.
    @discardableResult
    public func apply(_ change: FieldChange, to state: inout State) -> Bool {
        all.first { $0.name == change.field }?.write(&state, change.value) ?? false
    }

    /// The change of a field to a value, or nil if the field is not registered.
    package func change(at keyPath: PartialKeyPath<State>, to value: any Sendable) -> FieldChange? {
        guard let field = all.first(where: { $0.keyPath == keyPath }) else { return nil }
        return field.encode(value).map { FieldChange(field: field.name, value: $0) }
    }
}

/// A definition with fields that stores and bindings can change from other processes.
///
/// ```swift
/// struct SignUp: LoopDefinition, RegisteredFields {
///     enum Event: Codable, Sendable { case set(FieldChange), submit }
///     static let fields: Fields<State> = [Field("name", \.name), Field("news", \.wantsNews)]
///     static func set(_ change: FieldChange) -> Event { .set(change) }
///
///     func reduce(into state: inout State, _ event: Event, _: Transition) {
///         switch event {
///         case .set(let change): Self.fields.apply(change, to: &state)
///         …
/// ```
public protocol RegisteredFields: LoopDefinition {
    /// The fields, each name once.
    static var fields: Fields<State> { get }

    /// The event that carries a change. The reducer applies it by `fields.apply(_:to:)`, or refuses it by doing nothing: a
    /// change is an event like any other.
    static func set(_ change: FieldChange) -> Event
}

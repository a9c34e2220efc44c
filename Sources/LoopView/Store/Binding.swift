/// A value that can be read now and written through the loop.
///
/// It reads the snapshot of the context that made it: writing sends an event, or a change of one field, and shows in the
/// next context.
public struct Binding<Value: Sendable>: Sendable {
    private let read: @Sendable () -> Value
    private let write: @Sendable (Value) -> Void

    /// - Parameters:
    ///   - get: what is shown.
    ///   - set: what a new value leads to.
    public init(get: @escaping @Sendable () -> Value, set: @escaping @Sendable (Value) -> Void) {
        read = get
        write = set
    }

    /// A value that cannot be changed, for previews and tests.
    public static func constant(_ value: Value) -> Binding { Binding(get: { value }, set: { _ in }) }

    /// The value that is shown. Setting it goes through the loop and does not change this binding.
    public var value: Value {
        get { read() }
        nonmutating set { write(newValue) }
    }

    /// The same value seen as another type.
    /// - Parameters:
    ///   - get: from the value to what is shown.
    ///   - set: from what is shown to the value; nil, where it is none: nothing is sent.
    public func map<Other: Sendable>(
        get: @escaping @Sendable (Value) -> Other, set: @escaping @Sendable (Other) -> Value?
    ) -> Binding<Other> {
        Binding<Other>(get: { get(read()) }, set: { other in if let value = set(other) { write(value) } })
    }
}

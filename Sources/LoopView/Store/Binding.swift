/// A value that can be read now and written through the loop.
///
/// It reads the snapshot of the context that made it. Writing sends an event or changes one field, and the next context shows the
/// result.
public struct Binding<Value: Sendable>: Sendable {
    private let read: @Sendable () -> Value
    private let write: @Sendable (Value) -> Void

    /// - Parameters:
    ///   - get: returns the value to show.
    ///   - set: called with each new value.
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

    /// This value, converted to another type and back.
    /// - Parameters:
    ///   - get: converts the value to what is shown.
    ///   - set: converts what is shown to the value, or returns nil if it is not valid; then nothing is sent.
    public func map<Other: Sendable>(
        get: @escaping @Sendable (Value) -> Other, set: @escaping @Sendable (Other) -> Value?
    ) -> Binding<Other> {
        Binding<Other>(get: { get(read()) }, set: { other in if let value = set(other) { write(value) } })
    }
}

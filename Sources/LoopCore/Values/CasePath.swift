/// A pair of functions from a value into one case of an enum, and back.
///
///     enum Event { case list(ListEvent), close }
///     let list = CasePath(Event.list)
///     list.extract(.list(.next))   // .next
///     list.extract(.close)         // nil
///
/// Pass both functions if the whole is no enum, such as a state with an optional part.
public struct CasePath<Root, Value>: Sendable {
    /// Makes the whole that is this case with this value.
    public let embed: @Sendable (Value) -> Root
    /// The value in a whole that is this case, or nil for another case.
    public let extract: @Sendable (Root) -> Value?

    /// Creates a path from both functions. `extract` returns the value that was passed to `embed`.
    public init(
        embed: @escaping @Sendable (Value) -> Root, extract: @escaping @Sendable (Root) -> Value?
    ) {
        self.embed = embed
        self.extract = extract
    }

    /// Creates a path from a case and a property that is nil for all others: `CasePath(Event.list, \.list)`. This is the fast form.
    public init(
        _ embed: @escaping @Sendable (Value) -> Root, _ property: any KeyPath<Root, Value?> & Sendable
    ) {
        self.init(embed: embed) { $0[keyPath: property] }
    }

    /// Creates a path from the name of a case with one value: `CasePath(Event.list)`. It inspects the enum by reflection,
    /// which takes about a microsecond.
    public init(_ embed: @escaping @Sendable (Value) -> Root) {
        self.init(embed: embed) { root in
            guard let found = Mirror(reflecting: root).children.first, let value = Self.value(found.value) else {
                return nil
            }
            // Two cases may have values of one type.
            return Mirror(reflecting: embed(value)).children.first?.label == found.label ? value : nil
        }
    }

    /// The value of a payload. One with a label is a tuple of one.
    private static func value(_ payload: Any) -> Value? {
        if let value = payload as? Value { return value }
        let parts = Mirror(reflecting: payload).children
        return parts.count == 1 ? parts.first?.value as? Value : nil
    }

    /// The path into a case of a case.
    package func appending<Inner>(_ path: CasePath<Value, Inner>) -> CasePath<Root, Inner> {
        CasePath<Root, Inner>(
            embed: { [embed] inner in embed(path.embed(inner)) },
            extract: { [extract] root in extract(root).flatMap { path.extract($0) } })
    }
}

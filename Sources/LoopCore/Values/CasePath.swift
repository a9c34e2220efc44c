/// A way into one case of an enum, and back.
///
///     enum Event { case list(ListEvent), close }
///     let list = CasePath(Event.list)
///     list.extract(.list(.next))   // .next
///     list.extract(.close)         // nil
///
/// For wholes that are no enums, such as a state with an optional part, give both functions.
public struct CasePath<Root, Value>: Sendable {
    /// The whole that is this case with this value.
    public let embed: @Sendable (Value) -> Root
    /// The value in a whole that is this case; nil for another.
    public let extract: @Sendable (Root) -> Value?

    /// A way in and a way back. `extract` gives back the value that `embed` was given.
    public init(
        embed: @escaping @Sendable (Value) -> Root, extract: @escaping @Sendable (Root) -> Value?
    ) {
        self.embed = embed
        self.extract = extract
    }

    /// A case and a property that is nil for all others: `CasePath(Event.list, \.list)`. The fast one.
    public init(
        _ embed: @escaping @Sendable (Value) -> Root, _ property: any KeyPath<Root, Value?> & Sendable
    ) {
        self.init(embed: embed) { $0[keyPath: property] }
    }

    /// A case with one value, by its name alone: `CasePath(Event.list)`. It looks into the enum by reflection, which takes
    /// about a microsecond.
    public init(_ embed: @escaping @Sendable (Value) -> Root) {
        self.init(embed: embed) { root in
            guard let found = Mirror(reflecting: root).children.first, let value = Self.value(found.value) else {
                return nil
            }
            // Two cases may have values of one type.
            return Mirror(reflecting: embed(value)).children.first?.label == found.label ? value : nil
        }
    }

    /// A value with a label is a tuple of one.
    private static func value(_ payload: Any) -> Value? {
        if let value = payload as? Value { return value }
        let parts = Mirror(reflecting: payload).children
        return parts.count == 1 ? parts.first?.value as? Value : nil
    }

    /// The way into a case of a case.
    public func appending<Inner>(_ path: CasePath<Value, Inner>) -> CasePath<Root, Inner> {
        CasePath<Root, Inner>(
            embed: { [embed] inner in embed(path.embed(inner)) },
            extract: { [extract] root in extract(root).flatMap { path.extract($0) } })
    }
}

/// Views below each other.
public struct Column: View {
    private let content: @Sendable () -> [Element]

    /// Creates a column that shows the views of `content` from top to bottom.
    public init(@ViewBuilder _ content: @escaping @Sendable () -> [Element]) { self.content = content }

    /// A single element of kind `column`, with the content's elements as children.
    public var body: [Element] { [Element(.column, children: content())] }
}

/// Views side by side, if there is room.
public struct Row: View {
    private let content: @Sendable () -> [Element]

    /// Creates a row that shows the views of `content` from left to right.
    public init(@ViewBuilder _ content: @escaping @Sendable () -> [Element]) { self.content = content }

    /// A single element of kind `row`, with the content's elements as children.
    public var body: [Element] { [Element(.row, children: content())] }
}

/// Entries below each other.
public struct List: View {
    private let content: @Sendable () -> [Element]

    /// Creates a list with one entry for each view of `content`.
    public init(@ViewBuilder _ content: @escaping @Sendable () -> [Element]) { self.content = content }

    /// Creates a list with one entry for each of `values`. The `id` identifies an entry, so that it stays the same element wherever
    /// it moves.
    public init<Values: Sequence & Sendable, ID>(
        _ values: Values, id: any KeyPath<Values.Element, ID> & Sendable,
        @ViewBuilder entry: @escaping @Sendable (Values.Element) -> [Element]
    ) {
        content = { Entries(values, id: id, entry: entry).body }
    }

    /// Creates a list with one entry for each of `values`, identified by the value's own identity.
    public init<Values: Sequence & Sendable>(
        _ values: Values, @ViewBuilder entry: @escaping @Sendable (Values.Element) -> [Element]
    ) where Values.Element: Identifiable {
        content = { Entries(values, entry: entry).body }
    }

    /// A single element of kind `list`, with one child for each entry.
    public var body: [Element] { [Element(.list, children: content())] }
}

/// One view for each of several values, identified by the value's identity. It adds no container.
public struct Entries: View {
    private let content: @Sendable () -> [Element]

    /// Creates one view for each of `values`. The `id` identifies a view, so that it stays the same element wherever it moves.
    /// - Parameters:
    ///   - values: the values, in order.
    ///   - id: the identity of a value, unique among them.
    ///   - entry: the view of one value; several views become one column.
    public init<Values: Sequence & Sendable, ID>(
        _ values: Values, id: any KeyPath<Values.Element, ID> & Sendable,
        @ViewBuilder entry: @escaping @Sendable (Values.Element) -> [Element]
    ) {
        content = { values.map { Self.element(entry($0), String(describing: $0[keyPath: id])) } }
    }

    /// Creates one view for each of `values`, identified by the value's own identity.
    /// - Parameters:
    ///   - values: the values, in order.
    ///   - entry: the view of one value; several views become one column.
    public init<Values: Sequence & Sendable>(
        _ values: Values, @ViewBuilder entry: @escaping @Sendable (Values.Element) -> [Element]
    ) where Values.Element: Identifiable {
        content = { values.map { Self.element(entry($0), String(describing: $0.id)) } }
    }

    /// One element for each value, in the order of the values.
    public var body: [Element] { content() }

    private static func element(_ parts: [Element], _ id: String) -> Element {
        var element: Element
        if parts.count == 1, let only = parts.first, !only.hasID {
            element = only
        } else {
            element = Element(.column, children: parts)
        }
        element.name(id)
        return element
    }
}

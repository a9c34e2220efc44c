/// A function of its properties that says which elements to show.
///
/// ```swift
/// struct FilmRow: View {
///     let film: Film
///
///     var body: [Element] {
///         Text(film.title).strong()
///         Text("\(film.year)").tone(.secondary)
///     }
/// }
/// ```
public protocol View: Sendable {
    /// The elements at this moment. Renderers read them again when an observable value that was read has changed.
    @ViewBuilder var body: [Element] { get }
}

extension Element: View {
    /// The element itself: an element is a view that shows only itself.
    public var body: [Element] { [self] }
}

/// A view made from a closure.
public struct Group: View {
    private let content: @Sendable () -> [Element]

    /// Creates a view that shows the elements of the closure. Renderers call it again for each drawing.
    public init(@ViewBuilder _ content: @escaping @Sendable () -> [Element]) { self.content = content }

    /// The elements of the closure, without a container.
    public var body: [Element] { content() }
}

/// Makes elements from a list of views, with `if`, `switch` and `for`.
///
/// Each view is identified by its position in the code. So the views after an `if` remain the same elements whether or not its
/// condition holds. A view in a `for` is identified by its number, unless `id` gives it a name.
@resultBuilder
public enum ViewBuilder {
    /// Takes the elements of a view.
    public static func buildExpression(_ view: some View) -> [Element] { view.body }

    /// Takes elements that were made before.
    public static func buildExpression(_ elements: [Element]) -> [Element] { elements }

    /// Joins the views of a block. Each element's name begins with its position in the block.
    public static func buildBlock(_ parts: [Element]...) -> [Element] {
        if parts.count == 1, let only = parts.first { return only }
        var all: [Element] = []
        all.reserveCapacity(parts.reduce(0) { $0 + $1.count })
        for (place, part) in parts.enumerated() { append(part, at: String(place), to: &all) }
        return all
    }

    /// Takes an `if` without an `else`: no elements if the condition does not hold.
    public static func buildOptional(_ part: [Element]?) -> [Element] { part ?? [] }

    /// Takes the first branch of an `if` or `switch`. Its elements have other names than those of the second.
    public static func buildEither(first: [Element]) -> [Element] { prefixed(first, "a") }

    /// Takes the second branch of an `if` or `switch`. Its elements have other names than those of the first.
    public static func buildEither(second: [Element]) -> [Element] { prefixed(second, "b") }

    /// Joins the iterations of a `for`. Each element's name begins with the number of its iteration, from 0.
    public static func buildArray(_ parts: [[Element]]) -> [Element] {
        var all: [Element] = []
        for (place, part) in parts.enumerated() { append(part, at: String(place), to: &all) }
        return all
    }

    private static func prefixed(_ part: [Element], _ prefix: String) -> [Element] {
        var all: [Element] = []
        append(part, at: prefix, to: &all)
        return all
    }

    private static func append(_ part: [Element], at prefix: String, to all: inout [Element]) {
        for var element in part {
            // A given name does not depend on the element's position among its siblings.
            if !element.hasID { element.key = element.key.isEmpty ? prefix : "\(prefix).\(element.key)" }
            all.append(element)
        }
    }
}

/// A long list of which only a window is shown, such as the rows that are on the screen. A browser can scroll through all rows:
/// it asks for another window. Rows are one line high.
package struct WindowList: View {
    private let window: RowWindow
    private let move: @Sendable (Int) -> Void
    private let content: @Sendable () -> [Element]

    /// - Parameters:
    ///   - count: how many rows there are.
    ///   - first: the number of the first row of the window, from 0.
    ///   - onMove: receives the number of the first row that should be shown.
    ///   - rows: the rows of the window, with an `id` each.
    package init(
        count: Int, first: Int, onMove: @escaping @Sendable (Int) -> Void,
        @ViewBuilder rows: @escaping @Sendable () -> [Element]
    ) {
        window = RowWindow(count: max(count, 0), first: max(first, 0))
        move = onMove
        content = rows
    }

    /// A single element of kind `window`, with one child for each row of the window.
    package var body: [Element] {
        var element = Element(.window(window), children: content())
        element.write = { [move] text in
            if let first = Int(text), first >= 0 { move(first) }
        }
        return [element]
    }
}

/// Which rows of a long list are shown.
package struct RowWindow: Equatable, Sendable {
    /// How many rows there are.
    package var count: Int
    /// The number of the first row that is shown, from 0.
    package var first: Int
}

/// What a page shows, as a short text that a browser keeps in the page's address. It shows nothing itself. A link to `#` and such a
/// text, and the browser's Back, write the binding.
package struct PageAddress: View {
    private let text: Binding<String>

    /// Creates an address that is read from the binding, and written to it.
    package init(_ text: Binding<String>) { self.text = text }

    /// A single element of kind `address`.
    package var body: [Element] {
        var element = Element(.address(text.value))
        element.write = { [text] in text.value = $0 }
        return [element]
    }
}

extension View {
    /// Shows the text of the elements in a font of equal widths, with its blanks.
    package func code() -> some View { styled { $0.isCode = true } }
}

extension ViewTree {
    /// The tree as text without colours, for tests and logs. Blanks at the end of a line are removed, and control characters in the
    /// state are replaced.
    ///
    /// ```text
    /// # Movies
    /// - The Third Man  [ Favourite ]
    /// - Charade  [ Favourite ]
    /// Search: [ha]
    /// ```
    /// - Parameter columns: the width at which lines are broken; at least 8.
    public func plainText(columns: Int = 80) -> String {
        let lines = TextLayout(columns: max(columns, 8), isPlain: true).lines(of: self)
        return lines.map { line in
            var text = line.text
            while text.last == " " { text.removeLast() }
            return text
        }.joined(separator: "\n")
    }
}

extension View {
    /// The view as it is now, as text. See `ViewTree.plainText(columns:)`.
    public func plainText(columns: Int = 80) -> String { ViewTree(self).plainText(columns: columns) }
}

extension ViewTree {
    /// What is shown, as text without colours, for tests and logs. Lines end without blanks; control characters that
    /// the state may hold are replaced.
    ///
    /// ```text
    /// # Movies
    /// - The Third Man  [ Favourite ]
    /// - Charade  [ Favourite ]
    /// Search: [ha]
    /// ```
    /// - Parameter columns: where lines are broken.
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
    /// What the view shows now, as text; see `ViewTree.plainText(columns:)`.
    public func plainText(columns: Int = 80) -> String { ViewTree(self).plainText(columns: columns) }
}

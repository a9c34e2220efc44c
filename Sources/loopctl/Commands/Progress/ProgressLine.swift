/// A line at the bottom of a terminal that is redrawn in place. Its methods return the characters to write.
struct ProgressLine {
    private var shown = ""

    /// Shows the text in place of the line, or does nothing if the line shows it already.
    mutating func show(_ text: String) -> String {
        guard text != shown else { return "" }
        let erasing = clear()
        shown = text
        return erasing + text
    }

    /// Removes the line.
    mutating func clear() -> String {
        guard !shown.isEmpty else { return "" }
        shown = ""
        return "\r\u{1B}[2K"
    }
}

import Linux
import LoopNode

/// The terminal output of `up`: lines, and below them one line of progress that is redrawn.
struct Console {
    private let isQuiet: Bool
    private let canRedraw: Bool
    private var progressLine = ProgressLine()
    /// Whether an outcome was shown.
    private(set) var hasOutput = false
    /// The error of writing the outcome, or nil.
    private(set) var outputError: OutputError?
    /// The lines of the processes, if they are shown only after a failure.
    private var withheld: [String] = []

    init(isQuiet: Bool, canRedraw: Bool = Terminal.canRedraw) {
        self.isQuiet = isQuiet
        self.canRedraw = canRedraw
    }

    /// The interval between two updates of the progress, or nil if it is not shown.
    var progressInterval: Duration? {
        if isQuiet { return nil }
        return canRedraw ? .milliseconds(250) : .seconds(3)
    }

    /// Shows a line of `up` about its work.
    mutating func note(_ text: String) {
        if !isQuiet { error(text) }
    }

    /// Shows a line of `up` that people need in any case.
    mutating func error(_ text: String) {
        StandardError.text(progressLine.clear() + PrintableText.lines(text) + "\n")
    }

    /// Shows a line that a process wrote for people.
    mutating func said(_ text: String) {
        guard isQuiet else { return error(text) }
        withheld.append(text)
        if withheld.count > 100 { withheld.removeFirst() }
    }

    /// Shows a line of the outcome. No progress is shown from here on.
    mutating func output(_ text: String) {
        hasOutput = true
        let erasing = progressLine.clear()
        if !erasing.isEmpty { StandardError.text(erasing) }
        guard outputError == nil else { return }
        do throws(OutputError) { try StandardOutput.line(text) } catch { outputError = error }
    }

    mutating func progress(_ reading: ProgressReading) {
        guard !isQuiet, !hasOutput else { return }
        if canRedraw {
            let columns = Terminal.columns(of: 2) ?? 80
            StandardError.text(progressLine.show(reading.text(columns: columns - 1)))
        } else {
            StandardError.text(reading.text(columns: nil) + "\n")
        }
    }

    /// Ends the output after the loop has ended.
    mutating func finish(failed: Bool) {
        let erasing = progressLine.clear()
        if !erasing.isEmpty { StandardError.text(erasing) }
        guard failed else { return }
        for line in withheld { error(line) }
        withheld = []
    }
}

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

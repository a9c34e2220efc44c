/// Lines of a log that wait to be written. While the buffer is full, new lines are dropped and counted; a line in their stead
/// says how many.
struct LogBuffer: Equatable {
    private let linesMax: Int
    private let bytesMax: Int
    private var lines: [String] = []
    private var byteCount = 0
    /// How many lines were dropped since the last line that was kept.
    private var missing = 0
    /// How many lines were dropped in all.
    private(set) var droppedCount: UInt64 = 0

    init(linesMax: Int = 1024, bytesMax: Int = 256 << 10) {
        self.linesMax = linesMax
        self.bytesMax = bytesMax
    }

    var isEmpty: Bool { lines.isEmpty && missing == 0 }

    /// Appends a text, which ends with a newline, or drops it if the buffer is full.
    mutating func append(_ text: String) {
        let count = text.utf8.count
        guard lines.count < linesMax, byteCount + count <= bytesMax else {
            missing += 1
            droppedCount += 1
            return
        }
        noteMissing()
        lines.append(text)
        byteCount += count
    }

    /// Takes everything that is to be written next, in order, and so makes room again.
    mutating func takeAll() -> [String] {
        noteMissing()
        defer {
            lines.removeAll()
            byteCount = 0
        }
        return lines
    }

    /// Counts a line that could not be written and never will be.
    mutating func noteLost() { droppedCount += 1 }

    private mutating func noteMissing() {
        guard missing > 0 else { return }
        let text = missing == 1 ? "1 line of the log is missing here" : "\(missing) lines of the log are missing here"
        lines.append("\(text): nobody read it\n")
        missing = 0
    }
}

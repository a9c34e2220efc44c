import LoopView

/// A terminal that understands what `TerminalScreen` writes, and counts what it had to do.
struct Emulator {
    private(set) var cells: [[Character]]
    private(set) var cursor = (row: 0, column: 0)
    private(set) var isCursorShown = true
    /// The rows that were written since the count was reset.
    var written: Set<Int> = []
    private(set) var isOtherScreen = false
    private(set) var unknown: [String] = []
    private let columns: Int

    init(_ size: TerminalScreen.Size) {
        columns = size.columns
        cells = Array(repeating: Array(repeating: " ", count: size.columns), count: size.rows)
    }

    /// The rows without blanks at their ends, and no empty ones at the end.
    var text: String {
        var rows = cells.map { row in
            var text = String(row.filter { $0 != "\0" })
            while text.last == " " { text.removeLast() }
            return text
        }
        while rows.last == "" { rows.removeLast() }
        return rows.joined(separator: "\n")
    }

    mutating func write(_ text: String) {
        var rest = text[...]
        while let character = rest.popFirst() {
            guard character == "\u{1B}" else {
                put(character)
                continue
            }
            _ = rest.popFirst()
            let parameters = String(rest.prefix { !$0.isLetter })
            rest = rest.dropFirst(parameters.count)
            if let final = rest.popFirst() { execute(parameters, final) }
        }
    }

    private mutating func put(_ character: Character) {
        written.insert(cursor.row)
        let isWide = character.unicodeScalars.first.map { $0.value >= 0x3000 } ?? false
        if cursor.column < columns { cells[cursor.row][cursor.column] = character }
        // The second half of a wide character.
        if isWide, cursor.column + 1 < columns { cells[cursor.row][cursor.column + 1] = "\0" }
        cursor.column = min(cursor.column + (isWide ? 2 : 1), columns - 1)
    }

    private mutating func execute(_ parameters: String, _ final: Character) {
        switch (final, parameters) {
        case ("H", _):
            let numbers = parameters.split(separator: ";").compactMap { Int($0) }
            cursor = (numbers[0] - 1, numbers[1] - 1)
        case ("K", ""):
            written.insert(cursor.row)
            for column in cursor.column..<columns { cells[cursor.row][column] = " " }
        case ("J", "2"):
            for row in cells.indices { cells[row] = Array(repeating: " ", count: columns) }
        case ("h", "?25"): isCursorShown = true
        case ("l", "?25"): isCursorShown = false
        case ("h", "?1049"): isOtherScreen = true
        case ("l", "?1049"): isOtherScreen = false
        case ("m", _), ("l", "?7"), ("h", "?7"), ("h", "?2004"), ("l", "?2004"): break
        default: unknown.append(parameters + String(final))
        }
    }
}

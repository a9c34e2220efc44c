internal import Glibc
internal import Linux
package import LoopCore

/// The file of one deposit, with a line for each step of every attempt to book it, in order.
package struct LedgerPage: Sendable {
    /// A step of an attempt.
    package enum Note: Equatable, Sendable {
        /// It began, after a number of failed attempts.
        case begun(failures: Int)
        /// It has done its work, and will report it next.
        case written
        /// The loop has applied its booking at this seq.
        case booked(Seq)
        /// The loop has refused one of its events.
        case refused(String)
    }

    /// One line: the effect's idempotency key, the attempt's slip, and the step.
    package struct Line: Equatable, Sendable {
        package var key: String
        package var slip: UInt64
        package var note: Note

        package init(key: String, slip: UInt64, note: Note) {
            self.key = key
            self.slip = slip
            self.note = note
        }
    }

    package let path: String

    package init(folder: String, deposit: UInt64) { path = "\(folder)/\(deposit)" }

    /// Appends a whole line by one write.
    /// - Throws: `SystemError` that names the file.
    package func append(_ line: Line) throws { try Self.append("\(line)\n", to: path) }

    static func append(_ line: String, to path: String) throws {
        let page = try Descriptor(opening: path, O_WRONLY | O_APPEND | O_CREAT)
        let bytes = Array(line.utf8)
        do throws(SystemError) {
            guard try SystemCall.writeSome(bytes[...], to: page.number) == bytes.count else {
                throw SystemError("write", code: ENOSPC)
            }
        } catch {
            throw SystemError("write to \(path)", code: error.code)
        }
    }

    /// All lines, or nil if there is no page.
    /// - Throws: `SystemError` if it cannot be read; ``Unreadable`` if a line is malformed.
    package func lines() throws -> [Line]? {
        try Self.text(of: path)?.split(separator: "\n").map { text in
            guard let line = Line(text) else { throw Unreadable(path: path, line: String(text)) }
            return line
        }
    }

    /// The text of a file, or nil if there is none.
    static func text(of path: String) throws -> String? {
        do throws(SystemError) {
            return String(decoding: try FileSystem.bytes(of: path), as: UTF8.self)
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
    }

    /// An error: a page has a line that no clerk has written.
    package struct Unreadable: Error, CustomStringConvertible {
        package let path: String
        package let line: String
        package var description: String { "\(path) has the line '\(line)', which is none of a ledger's" }
    }
}

// Such as `ledger/7f3a…/0.12.0 9c01d3… booked 17`.
extension LedgerPage.Line: CustomStringConvertible {
    package var description: String {
        let what =
            switch note {
            case .begun(let failures): "begun \(failures)"
            case .written: "written"
            case .booked(let seq): "booked \(seq)"
            case .refused(let reason): "refused \(reason)"
            }
        return "\(key) \(String(slip, radix: 16)) \(what)"
    }

    init?(_ text: Substring) {
        let words = text.split(separator: " ").map(String.init)
        guard words.count >= 3, let slip = UInt64(words[1], radix: 16) else { return nil }
        let note: LedgerPage.Note
        switch (words[2], words.count) {
        case ("begun", 4): note = .begun(failures: Int(words[3]) ?? 0)
        case ("written", 3): note = .written
        case ("booked", 4): note = .booked(Seq(UInt64(words[3]) ?? 0))
        case ("refused", 4): note = .refused(words[3])
        default: return nil
        }
        self.init(key: words[0], slip: slip, note: note)
    }
}

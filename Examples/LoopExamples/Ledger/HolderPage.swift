internal import Glibc
internal import LoopNode

/// The file of one life of a worker that holds effects. It has a line for each start, with the number of the effect.
package struct HolderPage: Sendable {
    package let path: String

    private static let prefix = "holder-"
    /// Drawn once in each process.
    private static let life = String(SystemRandom.uint64(), radix: 16)

    static func ofThisProcess(in folder: String) -> HolderPage { HolderPage(path: "\(folder)/\(prefix)\(life)") }

    /// Whether a file among the pages is a holder's.
    package static func isNamed(_ name: String) -> Bool { name.hasPrefix(prefix) }

    package init(path: String) { self.path = path }

    /// Appends one line by one write, so that it exists even if the process is killed.
    /// - Throws: `SystemError` that names the file.
    func append(_ number: UInt64) throws { try LedgerPage.append("\(number)\n", to: path) }

    /// How often each number was started.
    /// - Throws: `SystemError` if it cannot be read; `LedgerPage.Unreadable` if a line is no number.
    package func starts() throws -> [UInt64: Int] {
        var starts: [UInt64: Int] = [:]
        for line in try LedgerPage.text(of: path)?.split(separator: "\n") ?? [] {
            guard let number = UInt64(line) else { throw LedgerPage.Unreadable(path: path, line: String(line)) }
            starts[number, default: 0] += 1
        }
        return starts
    }
}

import Linux
import LoopExamples
import LoopNode

/// The folder of a run, with the journal, the logs of its processes and the pages of deposits.
struct RunFolder: Sendable {
    private let folder: TemporaryFolder
    var path: String { folder.path }

    /// - Throws: `SystemError` if the folder cannot be made.
    init() throws {
        folder = try TemporaryFolder("loop-chaos")
        try FileSystem.makeFolder(pages)
    }

    var pages: String { "\(path)/pages" }
    var journal: String { "\(path)/ledger.journal" }
    func log(of name: String) -> String { "\(path)/\(name).log" }

    /// All pages, by deposit.
    func readPages() throws -> [UInt64: [LedgerPage.Line]] {
        var pages: [UInt64: [LedgerPage.Line]] = [:]
        for name in TemporaryFolder.names(in: self.pages) where !HolderPage.isNamed(name) {
            guard let deposit = UInt64(name) else {
                throw ChaosFailure("\(self.pages)/\(name) is no page of a deposit")
            }
            pages[deposit] = try LedgerPage(folder: self.pages, deposit: deposit).lines() ?? []
        }
        return pages
    }

    /// The numbers that each life of the holder has started, and how often.
    func readHolderPages() throws -> [[UInt64: Int]] {
        try TemporaryFolder.names(in: pages).filter(HolderPage.isNamed).sorted().map {
            try HolderPage(path: "\(pages)/\($0)").starts()
        }
    }

    func write(_ name: String, _ text: String) {
        let path = "\(path)/\(name)"
        if (try? FileSystem.write(text + "\n", to: path)) == nil { StandardError.line("could not write \(path)") }
    }

    /// The last lines of a log.
    func tail(of name: String, lines: Int) -> [String] { Array(Self.lines(of: log(of: name)).suffix(lines)) }

    /// Log lines about a mistake, a trap, or damage.
    func complaints() -> [String] {
        TemporaryFolder.names(in: path).filter { $0.hasSuffix(".log") }.sorted().flatMap { name in
            Self.lines(of: "\(path)/\(name)").filter(Self.isComplaint).map { "\(name): \($0)" }
        }
    }

    static func isComplaint(_ line: String) -> Bool {
        let line = line.lowercased()
        return [
            "mistake in the program", "fatal error", "corrupt", "dropped a frame", "checksum", "crashed",
            "records are missing", "traceback",
        ].contains {
            line.contains($0)
        }
    }

    private static func lines(of path: String) -> [String] {
        let bytes = (try? FileSystem.bytes(of: path)) ?? []
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    func remove() { folder.remove() }
}

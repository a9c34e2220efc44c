// Unsafe: a file is closed where it was opened; the system uses what it is passed only during the call.

import Glibc
import LoopExamples
import LoopNode

/// Where a run keeps its journal, its processes' words and the deposits' pages.
struct RunFolder: Sendable {
    private let folder: TemporaryFolder
    var path: String { folder.path }

    /// - Throws: `SystemError` where it cannot be made.
    init() throws {
        folder = try TemporaryFolder("loop-chaos")
        guard unsafe mkdir(pages, 0o755) == 0 else { throw SystemError("make \(pages)", code: errno) }
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

    /// What each life of the holder has started, and how often.
    func readHolderPages() throws -> [[UInt64: Int]] {
        try TemporaryFolder.names(in: pages).filter(HolderPage.isNamed).sorted().map {
            try HolderPage(path: "\(pages)/\($0)").starts()
        }
    }

    func write(_ name: String, _ text: String) { Self.write(text, to: "\(path)/\(name)") }

    static func write(_ text: String, to path: String) {
        guard let file = unsafe fopen(path, "we") else { return StandardError.line("could not write \(path)") }
        unsafe fputs(text + "\n", file)
        unsafe fclose(file)
    }

    /// The last lines of a log.
    func tail(of name: String, lines: Int) -> [String] { Array(Self.lines(of: log(of: name)).suffix(lines)) }

    /// Lines of the logs that tell of a mistake, a trap, or damage.
    func complaints() -> [String] {
        TemporaryFolder.names(in: path).filter { $0.hasSuffix(".log") }.sorted().flatMap { name in
            Self.lines(of: "\(path)/\(name)").filter(Self.isComplaint).map { "\(name): \($0)" }
        }
    }

    static func isComplaint(_ line: String) -> Bool {
        let line = line.lowercased()
        return ["mistake in the program", "fatal error", "corrupt", "dropped a frame", "checksum", "crashed"].contains {
            line.contains($0)
        }
    }

    private static func lines(of path: String) -> [String] {
        guard let file = unsafe fopen(path, "re") else { return [] }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = unsafe fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    func remove() { folder.remove() }
}

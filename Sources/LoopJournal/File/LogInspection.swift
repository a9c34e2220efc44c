package import LoopCluster

/// What follows the last complete transaction in a write-ahead log, read from the file before SQLite opens it.
///
/// SQLite uses the log up to the last transaction whose checksums are right, and drops the rest without a word. A transaction that
/// was being written when the power failed may be dropped, because it was never acknowledged. But a byte that changed on the disk
/// also drops every later transaction, and those were acknowledged. The two cases differ: each transaction is synced before the
/// next begins, so none follows a torn one.
///
/// The layout is that of the section "WAL File Format" of SQLite's page on its file format.
package struct LogInspection: Equatable {
    package enum Finding: Equatable {
        /// All of it is valid, or nothing was ever written to it.
        case whole
        /// This many pages of an incomplete transaction follow the last complete one.
        case torn(pages: Int)
        /// A completed transaction cannot be read any more.
        case broken
    }

    package private(set) var finding = Finding.whole
    /// Whether the log is empty or missing.
    package let isEmpty: Bool
    /// Whether nothing follows its last complete transaction.
    var isWhole: Bool { finding == .whole }
    /// The number of pages in complete transactions.
    package private(set) var validPages = 0

    private static let headerBytes = 32
    private static let frameHeaderBytes = 24

    /// An empty or missing log.
    init() { isEmpty = true }

    /// - Parameter next: returns the next bytes of the `-wal` file: as many as requested, or fewer at its end.
    package init(_ next: (Int) throws(JournalError) -> [UInt8]) throws(JournalError) {
        let header = try next(Self.headerBytes)
        isEmpty = header.isEmpty
        guard header.count == Self.headerBytes else { return }
        let pageBytes = Int(Self.big(header, 8))
        var sum = Sum(isBig: Self.big(header, 0) & 1 == 1)
        sum.add(header, 0..<24)
        guard Self.magics.contains(Self.big(header, 0)), pageBytes.nonzeroBitCount == 1,
            (512...65536).contains(pageBytes), sum.first == Self.big(header, 24), sum.second == Self.big(header, 28)
        else {
            // A header is written and synced before the pages that follow it. If the power failed while it was written, the pages
            // behind it belong to an earlier header and have other salts. They are in the file already.
            finding = Self.hasFrames(header, try next(Self.frameHeaderBytes)) ? .broken : .whole
            return
        }
        try scan(next, frameBytes: pageBytes + Self.frameHeaderBytes, salts: header[16..<24], sum)
    }

    private mutating func scan(
        _ next: (Int) throws(JournalError) -> [UInt8], frameBytes: Int, salts: ArraySlice<UInt8>, _ header: Sum
    ) throws(JournalError) {
        var sum = header
        var isValid = true
        var count = 0
        // The frames of this header's transactions behind the last valid commit, and what kind they are.
        var stray = 0
        var strayCommits = 0
        var commitIsFollowed = false
        while true {
            let frame = try next(frameBytes)
            guard frame.count >= Self.frameHeaderBytes else {
                // The log grows by whole pages.
                if !frame.isEmpty { stray += 1 }
                break
            }
            count += 1
            // Pages of an earlier header differ in both salts. A page of this header with a changed byte differs in only one.
            let (isFirst, isSecond) = (frame[8..<12] == salts.prefix(4), frame[12..<16] == salts.suffix(4))
            let isCommit = Self.big(frame, 4) != 0
            if isValid, isFirst, isSecond, frame.count == frameBytes {
                sum.add(frame, 0..<8)
                sum.add(frame, Self.frameHeaderBytes..<frameBytes)
                isValid = sum.first == Self.big(frame, 16) && sum.second == Self.big(frame, 20)
            } else {
                isValid = false
            }
            if isValid, isCommit {
                validPages = count
                stray = 0
            } else if isValid || isFirst || isSecond {
                stray += 1
                if strayCommits > 0 { commitIsFollowed = true }
                if isCommit { strayCommits += 1 }
            }
        }
        if commitIsFollowed { finding = .broken } else if stray > 0 { finding = .torn(pages: stray) }
    }

    /// Whether pages that were written under this damaged header follow it.
    /// - Parameter frame: the bytes behind the header.
    private static func hasFrames(_ header: [UInt8], _ frame: [UInt8]) -> Bool {
        // A file that was only made longer has zeros here.
        guard frame.count == frameHeaderBytes, header[16..<24].contains(where: { $0 != 0 }) else { return false }
        if frame[8..<16] == header[16..<24] { return true }
        // The salts themselves may be damaged. Then the header's checksum is right with the salts of the first page.
        var mended = header
        mended.replaceSubrange(16..<24, with: frame[8..<16])
        var sum = Sum(isBig: big(header, 0) & 1 == 1)
        sum.add(mended, 0..<24)
        return sum.first == big(header, 24) && sum.second == big(header, 28)
    }

    private static let magics: Set<UInt32> = [0x377f_0682, 0x377f_0683]

    private static func big(_ bytes: [UInt8], _ start: Int) -> UInt32 {
        bytes[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The checksum of the log: two sums over pairs of 32-bit words, in the byte order that the header names.
    private struct Sum {
        let isBig: Bool
        var first: UInt32 = 0
        var second: UInt32 = 0

        init(isBig: Bool) { self.isBig = isBig }

        mutating func add(_ bytes: [UInt8], _ range: Range<Int>) {
            for start in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
                first &+= word(bytes, start) &+ second
                second &+= word(bytes, start + 4) &+ first
            }
        }

        private func word(_ bytes: [UInt8], _ start: Int) -> UInt32 {
            let (a, b) = (UInt32(bytes[start]), UInt32(bytes[start + 1]))
            let (c, d) = (UInt32(bytes[start + 2]), UInt32(bytes[start + 3]))
            return isBig ? a << 24 | b << 16 | c << 8 | d : d << 24 | c << 16 | b << 8 | a
        }
    }
}

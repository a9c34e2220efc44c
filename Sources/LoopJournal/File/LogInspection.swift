/// What lies in a write-ahead log behind its last complete transaction, read from the file before SQLite opens it.
///
/// SQLite takes the log up to the last transaction whose checksums are right, and drops the rest without a word. A
/// transaction that was being written when the power failed may be dropped, since it was never acknowledged. But a byte that
/// changed on the disk drops every transaction behind it too, and those were acknowledged. The two can be told apart: a
/// transaction is synced before the next one is begun, so behind a torn one there is none.
///
/// The layout is that of the section "WAL File Format" of SQLite's page on its file format.
package struct LogInspection: Equatable {
    package enum Finding: Equatable {
        /// Everything in it counts, or nothing was ever written to it.
        case whole
        /// How many pages of an incomplete transaction follow the last complete one.
        case torn(pages: Int)
        /// A transaction that was completed cannot be read any more.
        case broken
    }

    package private(set) var finding = Finding.whole
    /// Whether the log is empty or missing.
    package let isEmpty: Bool
    /// Whether nothing follows its last complete transaction.
    var isWhole: Bool { finding == .whole }
    /// How many pages there are in complete transactions.
    package private(set) var validPages = 0

    private static let headerBytes = 32
    private static let frameHeaderBytes = 24

    /// - Parameter log: all bytes of the `-wal` file.
    package init(_ log: [UInt8]) {
        isEmpty = log.isEmpty
        guard log.count >= Self.headerBytes else { return }
        let pageBytes = Int(Self.big(log, 8))
        let frameBytes = pageBytes + Self.frameHeaderBytes
        guard Self.magics.contains(Self.big(log, 0)), pageBytes.nonzeroBitCount == 1, (512...65536).contains(pageBytes)
        else {
            finding = Self.hasFrames(log) ? .broken : .whole
            return
        }
        var sum = Sum(isBig: Self.big(log, 0) & 1 == 1)
        sum.add(log, 0..<24)
        guard sum.first == Self.big(log, 24), sum.second == Self.big(log, 28) else {
            // A header is written, and synced, before the pages that follow it. One that was being written when the power
            // failed has pages of an earlier header behind it, which are in the file; those have other salts.
            finding = Self.hasFrames(log) ? .broken : .whole
            return
        }
        scan(log, frameBytes: frameBytes, sum)
    }

    private mutating func scan(_ log: [UInt8], frameBytes: Int, _ header: Sum) {
        var sum = header
        var isValid = true
        var frame = 0
        // Frames of this header's transactions behind the last valid commit, and what they look like.
        var stray = 0
        var strayCommits = 0
        var commitIsFollowed = false
        var start = Self.headerBytes
        while start + Self.frameHeaderBytes <= log.count {
            frame += 1
            // Pages of an earlier header differ in both salts, a page of this one with a changed byte in one of them.
            let isOurs = Self.equal(log, start + 8, 16, count: 4) || Self.equal(log, start + 12, 20, count: 4)
            let isExact = Self.equal(log, start + 8, 16, count: 8)
            let isCommit = Self.big(log, start + 4) != 0
            let isFull = start + frameBytes <= log.count
            if isValid, isExact, isFull {
                sum.add(log, start..<start + 8)
                sum.add(log, start + Self.frameHeaderBytes..<start + frameBytes)
                isValid = sum.first == Self.big(log, start + 16) && sum.second == Self.big(log, start + 20)
            } else {
                isValid = false
            }
            if isValid, isCommit {
                validPages = frame
                stray = 0
            } else if isValid || isOurs {
                stray += 1
                if strayCommits > 0 { commitIsFollowed = true }
                if isCommit { strayCommits += 1 }
            }
            start += frameBytes
        }
        // The log grows by whole pages.
        if start < log.count { stray += 1 }
        if commitIsFollowed { finding = .broken } else if stray > 0 { finding = .torn(pages: stray) }
    }

    /// Whether the header, which is damaged, has pages behind it that were written under it.
    private static func hasFrames(_ log: [UInt8]) -> Bool {
        // Zeros are what a file that was only made longer has.
        guard log.count >= headerBytes + frameHeaderBytes, log[16..<24].contains(where: { $0 != 0 }) else {
            return false
        }
        if equal(log, headerBytes + 8, 16, count: 8) { return true }
        // The salts themselves may be what is damaged: then the header's checksum is right with those of the first page.
        var mended = Array(log[..<headerBytes])
        mended.replaceSubrange(16..<24, with: log[headerBytes + 8..<headerBytes + 16])
        var sum = Sum(isBig: big(log, 0) & 1 == 1)
        sum.add(mended, 0..<24)
        return sum.first == big(log, 24) && sum.second == big(log, 28)
    }

    private static let magics: Set<UInt32> = [0x377f_0682, 0x377f_0683]

    private static func big(_ bytes: [UInt8], _ start: Int) -> UInt32 {
        bytes[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func equal(_ bytes: [UInt8], _ a: Int, _ b: Int, count: Int) -> Bool {
        bytes[a..<a + count] == bytes[b..<b + count]
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

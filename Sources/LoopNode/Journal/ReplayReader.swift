import LoopCluster
import LoopCore
import LoopCollections

/// Reads a journal for a replay, and decodes events on other threads a few pages ahead. Decoding is most of the work, and the
/// only part that can be done out of order.
final class ReplayReader<Event: Codable & Sendable> {
    /// A page that is being decoded.
    private struct Pending {
        let end: UInt64
        let decoded: Monitor<DecodedPage?>
    }

    private let journal: any Journal
    private let coder: any ValueCoder
    private let depth: Int
    private var pending: [Pending] = []
    private var isAtEnd = false

    /// The size of a page: small enough for the first one to come soon, large enough to be worth a thread.
    private static var pageBytes: Int { 512 << 10 }

    init(_ journal: any Journal, coder: any ValueCoder) {
        self.journal = journal
        self.coder = coder
        depth = max(2, min(16, SystemInfo.processorsCount))
    }

    /// Returns the records after a position. Calls must follow the order of the journal.
    func page(after position: UInt64) throws -> DecodedPage {
        while !isAtEnd, pending.count < depth { try readAhead(pending.last?.end ?? position) }
        guard !pending.isEmpty else { return DecodedPage(records: []) }
        return pending.removeFirst().decoded.wait(
            until: { $0 != nil }, then: { $0 ?? DecodedPage(records: []) })
    }

    private func readAhead(_ position: UInt64) throws {
        let records = try journal.records(after: position, bytesMax: Self.pageBytes)
        guard !records.isEmpty else {
            isAtEnd = true
            return
        }
        let decoded = Monitor<DecodedPage?>(nil)
        _ = try NodeThread("loop-replay") { [coder] in
            let page = DecodedPage(decoding: records, as: Event.self, coder: coder)
            decoded.withLock { $0 = page }
            decoded.broadcast()
        }
        pending.append(Pending(end: position + UInt64(records.count), decoded: decoded))
    }
}

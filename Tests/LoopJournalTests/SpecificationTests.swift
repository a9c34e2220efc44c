import Foundation
import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

/// What `docs/spec/2-JOURNAL.md` quotes is what is written.
@Suite struct `The journal's specification` {
    private static func text() throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent("docs/spec/2-JOURNAL.md"), encoding: .utf8)
    }

    @Test func `has the kinds that a history can be asked for`() {
        let kinds = Examples.records.map { HistoryRecord($0, position: 1, seq: .initial).kind }
        #expect(Set(kinds) == Set(HistoryRecord.kinds))
    }

    private static let effect = Examples.effect
    private static let attempt = Examples.attempt
    private static let time = Examples.time

    /// In the order of the table.
    private static let samples: [Record] = [
        .event(
            EventRecord(
                seq: Seq(300), time: time, session: SessionID(9), number: 70_000, effect: effect, attempt: attempt,
                wantsSeq: true, bytes: [0xa1, 0x61, 0x78, 0x01])),
        .event(
            EventRecord(
                seq: Seq(301), time: time, session: SessionID(9), number: 70_001, effect: nil, attempt: .none,
                wantsSeq: false,
                trace: TraceContext(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
                bytes: [0xa1, 0x61, 0x78, 0x01])),
        .refused(RefusalRecord(session: SessionID(4), number: 12, reason: .stale, effect: effect, attempt: attempt)),
        .completed(SessionID(4), number: 200, effect, attempt),
        .skipped(SessionID(5), number: 128),
        .attemptEnded(
            AttemptEnd(
                effect: effect, upTo: attempt, cause: .failed, next: .retry(RetryTime(notBefore: time, wait: 3000)),
                message: "no",
                entry: EntryNumber(session: SessionID(4), number: 14))),
        .sessionOpened(SessionID(6), PeerID(high: 0x0102_0304_0506_0708, low: 0x090a_0b0c_0d0e_0f10)),
        .sessionRetired(SessionID(6)),
        .epochBegun(Epoch(number: 3, nonce: 0xffee_ddcc_bbaa_9988), time),
        .definition(
            DefinitionRecord(
                fingerprint: 0x0123_4567_89ab_cdef, schema: 2, initial: 0xfedc_ba98_7654_3210, initialState: [0xa0],
                feedbacks: ["fetch", "tick"])),
        .stateHash(Seq(1000), 0xdead_beef_0000_0001),
        .quarantined(
            QuarantineRecord(
                id: 1, time: time, session: SessionID(4), number: 15, effect: effect, attempt: attempt,
                phase: .reducing, crashes: 2, bytes: [1, 2, 3])),
        .operatorAction(OperatorAction(.retryParked(effect), by: "ada@host", at: time)),
        .historyBegun(Examples.history, time),
        .stateMarked(Seq(1000)),
        .markHash(Seq(1000), 0xdead_beef_0000_0001),
        .sessionOwned(SessionID(6), Examples.owner),
        .event(EventRecord(timer: effect, seq: Seq(300), time: time, bytes: [0xa1, 0x61, 0x78, 0x01])),
        .scheduled(ScheduleRecord(schedule: 3, time: time, next: time, plan: 0x0123_4567_89ab_cdef)),
        .refused(
            RefusalRecord(
                session: SessionID(4), number: 14, reason: .undecodable, effect: effect, attempt: .none,
                detail: "no map")),
        .granted(
            GrantRecord(first: attempt, effects: [effect, EffectID(feedback: 3, seq: Seq(701), index: 0)])),
    ]

    @Test func `has the bytes of a record of each kind`() throws {
        let rows = try Self.text().matches(of: /\|[^|\n]+\| `([0-9a-f ]+)` \|/).map {
            $0.output.1.filter { $0 != " " }
        }
        #expect(rows == Self.samples.map { Self.digits(Examples.bytes($0)) })
        #expect(Set(Self.samples.map { Examples.bytes($0)[0] }) == Set(1...20))
    }

    @Test func `has the schema, and a first row`() throws {
        let folder = try Folder()
        let journal = try Examples.open(folder.journal)
        _ = try journal.append([.skipped(SessionID(5), number: 128)], through: 1)
        let text = try Self.text().split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let database = try Database(folder.journal, .read)
        var schema = try Statement("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL", in: database)
        var tables = 0
        while try schema.step() {
            let table = (schema.text(0) ?? "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(text.contains(table))
            tables += 1
        }
        #expect(tables == 3)
        let row = try database.text(
            """
            SELECT first_position || ', ' || last_position || ', ' || first_seq || ', ' || last_seq || ', ' || length
                || ', ' || checksum || ', x''' || lower(substr(hex(records), 1, 4)) || ' '
                || lower(substr(hex(records), 5)) || ''''
            FROM batches
            """)
        #expect(text.contains("is the row \(try #require(row))."))
        #expect(try database.integer("PRAGMA application_id") == 0x4c6f_6f70)
        #expect(try database.integer("PRAGMA user_version") == 1)
        var names = try Statement("SELECT name FROM meta", in: database)
        while try names.step() { #expect(text.contains("`\(names.text(0) ?? "")`")) }
    }

    private static func digits(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

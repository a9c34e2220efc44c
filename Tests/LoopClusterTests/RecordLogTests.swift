import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `A log of records` {
    private static func event(_ seq: UInt64) -> Record {
        .event(
            EventRecord(
                seq: Seq(seq), time: WallTime(milliseconds: 5), session: SessionID(2), number: seq, effect: nil,
                attempt: .none, wantsSeq: false, bytes: [UInt8](repeating: 1, count: Int(seq))[...]))
    }

    @Test func `gives back what was appended, and knows what a journal asks`() {
        var log = RecordLog()
        #expect(log.isEmpty && log.seqs == nil && !log.outlivesPower)
        let records: [Record] = [
            .skipped(SessionID(1), number: 4), Self.event(3), Self.event(4), .sessionRetired(SessionID(1)),
        ]
        for record in records { log.append(record) }
        #expect(Array(log) == records)
        #expect(log == RecordLog(records))
        #expect((log.count, log.eventsCount) == (4, 2))
        #expect(log.seqs == Seq(3)...Seq(4))
        #expect(!log.outlivesPower)
        log.append(.sessionOpened(SessionID(2), PeerID(high: 1, low: 2)))
        #expect(log.outlivesPower)
        var bytes: [UInt8] = []
        for record in log { record.write(to: &bytes) }
        #expect(bytes == log.bytes)
    }
}

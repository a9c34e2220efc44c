import CBOR
import LoopCore
import LoopWire
import Testing

@testable import LoopNode

@Suite struct `Lines of a history` {
    private enum Event: Codable { case add(Int) }

    private func event() throws -> HistoryRecord {
        var record = HistoryRecord(position: 12, seq: 9, kind: "event")
        record.time = 1_769_864_709_120
        record.session = 3
        record.number = 4
        record.event = try CBOR.encode(Event.add(5))
        return record
    }

    @Test func `are for people`() throws {
        var record = try event()
        #expect(
            record.line(isJSON: false)
                == #"2026-01-31T13:05:09.120Z  seq 9  event  session 3 number 4  {"add":{"_0":5}}"#)
        record.effect = "0.7.1"
        record.attempt = "1/2"
        #expect(
            record.line(isJSON: false)
                == #"2026-01-31T13:05:09.120Z  seq 9  event  effect 0.7.1 attempt 2 of epoch 1  {"add":{"_0":5}}"#)
        record.kind = "refused"
        record.time = nil
        record.event = nil
        record.note = "stale:\nit was cancelled"
        #expect(
            record.line(isJSON: false)
                == "                       -  seq 9  refused  effect 0.7.1 attempt 2 of epoch 1  session 3 number 4"
                + "  stale: it was cancelled")
        record.retryAt = 1_769_864_709_120
        #expect(
            record.line(isJSON: false).hasSuffix("  stale: it was cancelled  not before 2026-01-31T13:05:09.120Z"))
        #expect(
            HistoryRecord(position: 1, seq: 0, kind: "epoch begun").line(isJSON: false)
                == "                       -  seq 0  epoch begun")
    }

    @Test func `are JSON documents of what a record has`() throws {
        var record = try event()
        record.note = #"with "quotes""#
        #expect(
            record.line(isJSON: true)
                == #"{"position":12,"seq":9,"kind":"event","time":"2026-01-31T13:05:09.120Z","session":3,"number":4,"#
                + #""note":"with \"quotes\"","event":{"add":{"_0":5}}}"#)
        #expect(
            HistoryRecord(position: 1, seq: 0, kind: "epoch begun").line(isJSON: true)
                == #"{"position":1,"seq":0,"kind":"epoch begun"}"#)
    }

    @Test func `tell of an event that cannot be read`() throws {
        var record = try event()
        record.event = [0xFF, 0x00]
        #expect(record.line(isJSON: false).hasSuffix("2 bytes that cannot be read"))
        #expect(record.line(isJSON: true).hasSuffix(#""event":null}"#))
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_001, "2000-02-29T00:00:00.001Z"), (.min, "?"), (.max, "?"),
        ] as [(Int64, String)])
    func `have times in UTC`(milliseconds: Int64, text: String) {
        #expect(WallTime(milliseconds: milliseconds).text == text)
    }
}

@Suite struct `A report of verify` {
    private let same = VerifyReport(
        from: 1, through: 900, records: 1000, snapshots: 1, stateHashes: 12, difference: nil)

    @Test func `says what was compared`() {
        #expect(
            same.text(isJSON: false)
                == "replayed seq 1 to 900, 1000 records; the same as 1 snapshot and 12 state hashes")
        var bare = same
        bare.snapshots = 0
        bare.stateHashes = 0
        #expect(
            bare.text(isJSON: false)
                == "replayed seq 1 to 900, 1000 records; there was no snapshot and no state hash to compare with")
        var different = same
        different.difference = "at seq 512 the state's hash is 1, not 2"
        #expect(
            different.text(isJSON: false) == """
                replayed seq 1 to 900, 1000 records, compared with 1 snapshot and 12 state hashes
                at seq 512 the state's hash is 1, not 2
                """)
    }

    @Test func `is a JSON document`() {
        #expect(
            same.text(isJSON: true)
                == #"{"from":1,"through":900,"records":1000,"snapshots":1,"stateHashes":12,"difference":null}"#)
    }
}

@Suite struct `A printed state` {
    private let state: [UInt8] = [0xA2, 0x61, 0x61, 0x82, 0x01, 0x80, 0x61, 0x62, 0x63, 0x7B, 0x22, 0x3A]

    @Test func `is indented for people`() {
        #expect(
            JSONText.state(state, seq: 9, isJSON: false) == """
                seq 9
                {
                  "a": [
                    1,
                    []
                  ],
                  "b": "{\\":"
                }
                """)
    }

    @Test func `is a JSON document with its seq`() {
        #expect(
            JSONText.state(state, seq: 9, isJSON: true) == #"{"seq":9,"state":{"a":[1,[]],"b":"{\":"}}"#)
    }

    @Test(arguments: [#"{}"#, #""a\\""#, #"7"#, #"[[],{}]"#])
    func `has the same tokens on lines as on one`(document: String) {
        let indented = JSONText.indented(document)
        #expect(indented.filter { $0 != "\n" && $0 != " " } == document)
    }
}

import CBOR
import LoopNode
import LoopWire
import Testing

@testable import LoopCommands

@Suite struct `What is printed of schedules` {
    private let schedules = [
        ListedSchedule(
            name: "nightly", schedule: "0 3 * * * Europe/Berlin", isPaused: false, last: 1_764_036_000_000,
            next: [1_764_122_400_000, 1_764_208_800_000]),
        ListedSchedule(name: "sync", schedule: "every 300 s", isPaused: true, last: nil, next: []),
    ]

    @Test func `is a table`() {
        #expect(
            SchedulesPrinter(isJSON: false).text(for: schedules) == """
                NAME     SCHEDULE                 LAST                     NEXT
                nightly  0 3 * * * Europe/Berlin  2025-11-25 02:00:00 UTC  2025-11-26 02:00:00 UTC, 2025-11-27 02:00:00 UTC
                sync     every 300 s              -                        paused
                """)
        #expect(SchedulesPrinter(isJSON: false).text(for: []) == "the loop has no schedules")
    }

    @Test func `is a JSON document`() {
        #expect(
            SchedulesPrinter(isJSON: true).text(for: schedules)
                == #"[{"name":"nightly","schedule":"0 3 * * * Europe/Berlin","paused":false,"last":1764036000000,"#
                + #""next":[1764122400000,1764208800000]},{"name":"sync","schedule":"every 300 s","paused":true,"#
                + #""next":[]}]"#)
    }
}

@Suite struct `What is printed of quarantined events` {
    private let event = QuarantinedEvent(
        id: 2, time: 1_769_864_709_120, session: 5, number: 77, effect: "0.17.2", phase: "reduce", crashes: 2,
        event: [0xA1, 0x61, 0x61, 0x41, 0x05])

    @Test func `is a table, without the events`() {
        #expect(
            QuarantinePrinter(isJSON: false).list([event]) == """
                ID  TIME                      SESSION  NUMBER  EFFECT  CRASHES  WHILE
                 2  2026-01-31T13:05:09.120Z        5      77  0.17.2        2  reduce
                """)
        #expect(QuarantinePrinter(isJSON: false).list([]) == "no event is set aside")
        #expect(
            QuarantinePrinter(isJSON: true).list([event])
                == #"[{"id":2,"time":"2026-01-31T13:05:09.120Z","session":5,"number":77,"effect":"0.17.2","#
                + #""phase":"reduce","crashes":2}]"#)
    }

    @Test func `has the event as JSON and as CBOR`() {
        #expect(
            QuarantinePrinter(isJSON: false).whole(event) == """
                event 2, set aside at 2026-01-31T13:05:09.120Z
                number 77 of session 5, of the effect 0.17.2
                ended the process 2 times, while: reduce
                JSON: {"a":"BQ"}
                CBOR: {"a": h'05'}
                """)
        #expect(
            QuarantinePrinter(isJSON: true).whole(event).hasSuffix(
                #""event":{"a":"BQ"},"diagnostic":"{\"a\": h'05'}","bytes":"a161614105"}"#))
    }

    @Test func `has the bytes where they are no CBOR`() {
        var odd = event
        odd.event = [0xFF, 0x0A]
        odd.effect = nil
        odd.crashes = 1
        #expect(
            QuarantinePrinter(isJSON: false).whole(odd) == """
                event 2, set aside at 2026-01-31T13:05:09.120Z
                number 77 of session 5
                ended the process once, while: reduce
                JSON: none, the bytes are no CBOR
                bytes: ff0a
                """)
        #expect(QuarantinePrinter(isJSON: true).whole(odd).hasSuffix(#""event":null,"bytes":"ff0a"}"#))
    }
}

@Suite struct `What is printed of live effects` {
    private func effects() throws -> [ListedEffect] {
        [
            ListedEffect(
                effect: "0.17.2", feedback: "fetch", state: .waiting, reason: .noWorker, text: "no worker serves it",
                seq: 17, waitMilliseconds: 2000, failures: 0, request: try CBOR.encode(["url": "http://a/"])),
            ListedEffect(
                effect: "1.9.0", feedback: "wait", state: .running, reason: .runs,
                text: "the worker \"w\" runs attempt 1/2",
                seq: 11, failures: 12, request: [], requestBytes: 5 << 20),
        ]
    }

    @Test(arguments: [(0, nil), (1, "1 attempt has failed"), (2, "2 attempts have failed")])
    func `counts the attempts that have failed`(count: Int, line: String?) throws {
        var effect = try effects()[0]
        effect.failures = count
        let lines = effect.explanation.split(separator: "\n").map(String.init)
        #expect(lines.first { $0.hasSuffix("failed") } == line)
    }

    @Test func `is a table, and how many others there are`() throws {
        let printer = EffectsPrinter(isJSON: false)
        #expect(
            printer.text(for: try effects(), others: 3) == """
                ID      FEEDBACK  STATE    WAITS  FAILURES  WHY                              REQUEST
                0.17.2  fetch     waiting    2 s         0  no worker serves it              {"url":"http://a/"}
                1.9.0   wait      running      -        12  the worker "w" runs attempt 1/2  5242880 bytes, too large for the list
                and 3 more (--max, --feedback, --state)
                """)
        #expect(printer.text(for: [], others: 0) == "no such effect is live")
    }

    @Test func `is a JSON document`() throws {
        #expect(
            EffectsPrinter(isJSON: true).text(for: try effects(), others: 0)
                == #"{"effects":[{"effect":"0.17.2","feedback":"fetch","state":"waiting","reason":"no_worker","#
                + #""text":"no worker serves it","seq":17,"waitMilliseconds":2000,"failures":0,"request":{"url":"http://a/"},"requestBytes":15},"#
                + #"{"effect":"1.9.0","feedback":"wait","state":"running","reason":"runs","#
                + #""text":"the worker \"w\" runs attempt 1/2","seq":11,"failures":12,"requestBytes":5242880}],"others":0}"#
        )
    }
}

@Suite struct `What is printed of changes` {
    private var event: HistoryRecord {
        var event = HistoryRecord(position: 9, seq: 7, kind: "event")
        (event.time, event.session, event.number, event.event) = (0, 2, 4, [0x05])
        return event
    }

    @Test func `is each event with the value after it, and how far was looked`() {
        var large = PartChange(event: event, value: [])
        large.valueBytes = 5 << 20
        let changes = [PartChange(event: event, value: [0x18, 0x2A]), PartChange(event: event, value: []), large]
        let line = "1970-01-01T00:00:00.000Z  seq 7  event  session 2 number 4  5"
        #expect(
            ChangesPrinter(isJSON: false).text(for: changes, from: 3) == """
                \(line)
                    → 42
                \(line)
                    → absent
                \(line)
                    → 5242880 bytes, for which the answer has no room
                transitions up to seq 3 were not compared; for older changes: --before 4
                """)
        #expect(ChangesPrinter(isJSON: false).text(for: [], from: 0) == "no other transition changed it")
        #expect(
            ChangesPrinter(isJSON: false).text(for: [], from: 3, because: "trimmed")
                == "transitions up to seq 3 were not compared: trimmed")
    }

    @Test func `is a JSON document`() {
        let changes = [PartChange(event: event, value: [0x18, 0x2A]), PartChange(event: event, value: [])]
        let record =
            #"{"position":9,"seq":7,"kind":"event","time":"1970-01-01T00:00:00.000Z","session":2,"number":4,"event":5}"#
        #expect(
            ChangesPrinter(isJSON: true).text(for: changes, from: 3)
                == #"{"changes":[{"event":\#(record),"value":42,"valueBytes":2},{"event":\#(record),"valueBytes":0}],"from":3}"#
        )
    }
}

@Suite struct `What is printed of an origin` {
    private func record(_ seq: UInt64, effect: String? = nil) -> HistoryRecord {
        var record = HistoryRecord(position: seq, seq: seq, kind: "event")
        (record.time, record.session, record.number, record.effect, record.event) = (0, 2, 4, effect, [0x05])
        return record
    }

    @Test func `names the peer, its key, the effect and what asked for it`() {
        var origin = EventOrigin(event: record(9, effect: "0.7.1"))
        (origin.peer, origin.key, origin.feedback, origin.cause) = ("62b03fbe", "worker-1", "ship", record(7))
        #expect(
            origin.text == """
                1970-01-01T00:00:00.000Z  seq 9  event  effect 0.7.1  5
                sent by the effect 0.7.1 of ship, in session 2 of peer 62b03fbe, key "worker-1"
                the effect was asked for by
                1970-01-01T00:00:00.000Z  seq 7  event  session 2 number 4  5
                """)
        #expect(
            origin.json.hasSuffix(
                #""peer":"62b03fbe","key":"worker-1","feedback":"ship","cause":{"position":7,"seq":7,"kind":"event","#
                    + #""time":"1970-01-01T00:00:00.000Z","session":2,"number":4,"event":5}}"#))
    }

    @Test func `says what is not known, and why`() {
        var origin = EventOrigin(event: record(9, effect: "0.7.1"))
        origin.feedback = "ship"
        #expect(origin.text.contains("in session 2 of a peer whose record was trimmed"))
        #expect(origin.text.hasSuffix("the event that asked for the effect was trimmed"))
        origin = EventOrigin(event: record(9, effect: "0.0.1"))
        #expect(origin.text.hasSuffix("the initial state asked for the effect"))
        var timer = record(9)
        timer.session = nil
        #expect(EventOrigin(event: timer).text.hasSuffix("no peer sent it"))
    }
}

@Suite struct `What is printed of a difference` {
    private func differences(_ old: String, _ new: String) throws -> [CBORDifference] {
        try CBORDifference.between(CBOR.fromJSON(text: old), CBOR.fromJSON(text: new))
    }

    @Test func `names each part that differs by its path`() throws {
        let old = #"{"a":{"b.c":1,"d":[1,2.5,{"e":true}]},"f":null,"g":"x"}"#
        let new = #"{"a":{"b.c":2,"d":[1,2.5,{"e":false},4]},"f":[],"h":{"i":1}}"#
        #expect(
            try differences(old, new).map(\.text).joined(separator: "\n") == #"""
                - a.d[2].e: true
                + a.d[2].e: false
                + a.d[3]: 4
                - a["b.c"]: 1
                + a["b.c"]: 2
                - f: null
                + f: []
                + h: {"i":1}
                - g: "x"
                """#)
        #expect(try differences(old, old) == [])
    }

    @Test func `has paths that can be asked for`() throws {
        let found = try differences(#"{"a\"b":{"c\\d":{"":1}}}"#, #"{"a\"b":{"c\\d":{"":2}}}"#)
        #expect(found.map(\.path) == [["a\"b", "c\\d", ""]])
        #expect(StatePath.steps(of: StatePath.text(of: found[0].path)) == found[0].path)
    }

    @Test func `is a JSON document`() throws {
        let difference = try #require(try differences("[1]", "[]").first)
        #expect(difference.json == #"{"path":"[0]","old":1}"#)
    }
}

import CBOR
import LoopWire
import Testing

@testable import LoopCommands

@Suite struct `What is printed of parked effects` {
    private func effects() throws -> [LoopWire.ParkedEffect] {
        [
            LoopWire.ParkedEffect(
                effect: "0.17.2", feedback: "fetch", failures: 4, message: "no route\nto host",
                request: try CBOR.encode(["url": "http://a/"])),
            LoopWire.ParkedEffect(effect: "1.9.0", feedback: "wait", failures: 12, message: "", request: [0xFF]),
            LoopWire.ParkedEffect(
                effect: "1.9.1", feedback: "wait", failures: 1, message: "", request: [], requestBytes: 5 << 20),
        ]
    }

    @Test func `is a table`() throws {
        #expect(
            ParkedPrinter(isJSON: false).text(for: try effects()) == """
                ID      FEEDBACK  FAILURES  LAST              REQUEST
                0.17.2  fetch            4  no route to host  {"url":"http://a/"}
                1.9.0   wait            12                    null
                1.9.1   wait             1                    5242880 bytes, too large for the list
                """)
        #expect(ParkedPrinter(isJSON: false).text(for: []) == "no effect is parked")
    }

    @Test func `is a JSON document`() throws {
        #expect(
            ParkedPrinter(isJSON: true).text(for: try effects())
                == #"[{"effect":"0.17.2","feedback":"fetch","failures":4,"message":"no route\nto host","#
                + #""request":{"url":"http://a/"},"requestBytes":15},{"effect":"1.9.0","feedback":"wait","failures":12,"#
                + #""message":"","request":null,"requestBytes":1},{"effect":"1.9.1","feedback":"wait","failures":1,"#
                + #""message":"","requestBytes":5242880}]"#)
        #expect(ParkedPrinter(isJSON: true).text(for: []) == "[]")
    }
}

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

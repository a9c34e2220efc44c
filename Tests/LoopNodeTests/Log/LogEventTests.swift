import CBOR
import Foundation
import LoopCore
import LoopWire
import Testing

@testable import LoopCluster
@testable import LoopNode

@Suite struct `An event of the log` {
    private func event(_ text: String, node: String = "reducer shop", _ fields: [LogField] = []) -> LogEvent {
        LogEvent(
            time: WallTime(milliseconds: 1_769_864_709_120), level: .info, kind: .joined, node: node, text: text,
            fields: fields)
    }

    private func parsed(_ event: LogEvent) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(event.json.utf8)) as? [String: Any])
    }

    @Test func `is one line for people, and one JSON object with its fields`() {
        let event = event("the worker w1 has joined", [.peer("w1"), .session(3), .duration(.microseconds(1_999))])
        #expect(event.line == "reducer shop: the worker w1 has joined")
        #expect(
            event.json == #"{"time":"2026-01-31T13:05:09.120Z","level":"info","kind":"joined","node":"reducer shop","#
                + #""text":"the worker w1 has joined","peer":"w1","session":3,"durationMs":1}"#)
    }

    @Test(arguments: [
        "", "\"", "\\", "\\\"", "a\nb\r\n\tc", "\u{0}\u{1}\u{1F}\u{7F}\u{9B}31m", "txt\u{202E}exe\u{2066}", "Grüße 👋🏽",
        "\u{2028}\u{2029}", "{\"time\":1}", "\u{FFFD}\u{10FFFF}",
    ]) func `G12 is valid JSON whatever it holds, on one line that controls no terminal`(text: String) throws {
        let event = event(text, node: text, [.reason(text), .peer(text)])
        let values = try parsed(event)
        for key in ["text", "node", "reason", "peer"] { #expect(values[key] as? String == text) }
        #expect(!event.json.unicodeScalars.contains { $0.value < 0x20 || PrintableText.isControl($0) })
        #expect(PrintableText.lines(event.json) == event.json)
        #expect(!event.line.contains("\n"))
    }

    @Test func `has field names that are none of the event's own, and each once`() throws {
        let effect = EffectID(feedback: 0, seq: Seq(1), index: 0)
        let fields: [LogField] = [
            .peer(""), .session(.max), .number(1), .feedback(""), .effect(effect), .attempt(""), .failures(1),
            .retryIn(.seconds(1)), .reason(""), .seq(Seq(1)), .position(1), .records(1), .bytes(-1), .duration(.zero),
            .effects(1), .address(""), .history(""), .epoch(1), .fingerprint(""), .fingerprintBefore(""),
            .quarantined(1), .schedule(""), .suppressed(1),
        ]
        let values = try parsed(event("", fields))
        #expect(values.count == 5 + fields.count)
        #expect(values["session"] as? UInt64 == .max)
        #expect(values["bytes"] as? Int == 0)
    }
}

@Suite struct `The log of a node` {
    @Test func `makes no event below the level of its handler`() {
        let collector = LogCollector(level: .warning)
        let log = NodeLog(name: "worker w1", collector.handler)
        var count = 0
        func text() -> String {
            count += 1
            return "text"
        }
        log.note(.joined, text())
        log.once(.snapshot, text())
        log.note(.parked, text(), level: .debug)
        #expect(count == 0 && collector.events == [])
        log.note(.lost, text())
        log.note(.joined, text(), level: .error)
        #expect(count == 2)
        #expect(collector.events.map(\.level) == [.warning, .error])
        #expect(collector.lines == ["worker w1: text", "worker w1: text"])
    }

    @Test func `G11 writes one event a second for each kind and peer`() {
        let collector = LogCollector()
        let log = NodeLog(name: "n", collector.handler)
        for _ in 0..<1000 {
            log.malformed("a", WireError.malformed(what: "batch", offset: 0))
            log.malformed("b", WireError.malformed(what: "batch", offset: 0))
            log.once(.diverged, of: "a", "c")
        }
        #expect(collector.events.count == 3)
    }

    @Test func `gives each peer's arrival its own line, and those of senders to who looks for an error`() {
        let collector = LogCollector()
        let log = NodeLog(name: "reducer shop", collector.handler)
        let peer = PeerID(high: 0x0f3a_91c2_0000_0000, low: 1)
        var news = NewsOfPeer(peer: peer, session: SessionID(7), name: "w\n1", isWorker: true)
        log.tell(.joined(news))
        log.tell(.joined(news))
        log.tell(.lost(news, effects: 2))
        log.tell(.returned(news, after: .seconds(4)))
        log.tell(.left(news, .revoked))
        news.peer = PeerID(high: 1, low: 1)
        (news.isWorker, news.name) = (false, "")
        log.tell(.joined(news))
        #expect(
            collector.lines == [
                #"reducer shop: the worker "w\u{A}1" (0f3a91c2) has joined, in session 7"#,
                #"reducer shop: the worker "w\u{A}1" (0f3a91c2) is silent; it held 2 effects, for others to run"#,
                #"reducer shop: the worker "w\u{A}1" (0f3a91c2) is heard again, after 4 s"#,
                #"reducer shop: the worker "w\u{A}1" (0f3a91c2) has left: its key may not take part any more"#,
                "reducer shop: the peer 00000000 has joined, in session 7",
            ])
        #expect(collector.events.map(\.kind) == [.joined, .lost, .reconnected, .left, .joined])
        #expect(collector.events.map(\.level) == [.info, .warning, .notice, .info, .debug])
        #expect(collector.events[1].fields == [.peer("w\n1"), .session(7), .effects(2)])
    }

    @Test func `says of a failure which effect, which attempt, why, and what follows`() {
        let collector = LogCollector()
        let log = NodeLog(name: "reducer shop", collector.handler)
        let effect = EffectID(feedback: 1, seq: Seq(9), index: 0)
        var failure = NewsOfFailure(
            effect: effect, feedback: "charge", attempt: Attempt(epoch: 2, count: 5), failures: 1, reason: "no answer")
        log.tell(.effectFailed(failure, retryIn: .milliseconds(250)))
        failure.failures = 4
        log.tell(.parked(failure))
        #expect(
            collector.lines == [
                #"reducer shop: effect 1.9.0 of "charge" failed in attempt 5 of epoch 2: no answer; it is tried again in 250 ms"#,
                #"reducer shop: effect 1.9.0 of "charge" is parked after 4 failures: no answer; see: loopctl effects"#,
            ])
        #expect(
            collector.events[0].fields == [
                .effect(effect), .feedback("charge"), .attempt("2/5"), .failures(1), .retryIn(.milliseconds(250)),
                .reason("no answer"),
            ])
        #expect(collector.events.map(\.level) == [.warning, .error])
    }

    @Test func `names the events that end a process as before`() {
        let collector = LogCollector()
        let log = NodeLog(name: "reducer shop", collector.handler)
        var record = QuarantineRecord(
            id: 1, time: WallTime(milliseconds: 1), session: SessionID(7), number: 2, effect: nil, attempt: .none,
            phase: .reducing, crashes: 2, bytes: [0xa1, 0x61, 0x61, 0x05])
        log.tell(.quarantined(record, feedback: nil))
        (record.session, record.number) = (.none, 0)
        log.tell(.quarantined(record, feedback: nil))
        log.tell(.undecodable(EntryNumber(session: SessionID(1), number: 4), "at a: expected text, found 3"))
        #expect(
            collector.lines == [
                "reducer shop: event 2 of session 7 (no effect), {\"a\":5}, ended this process 2 times in reduce and is set"
                    + " aside as quarantined event 1; look at it with: loopctl quarantine show 1",
                "reducer shop: the event of a schedule (no effect), {\"a\":5}, ended this process 2 times in reduce and is"
                    + " set aside as quarantined event 1; look at it with: loopctl quarantine show 1",
                "reducer shop: event 4 of session 1 is refused, since it is no event of this loop: at a: expected text,"
                    + " found 3",
            ])
    }
}

import LoopCore
import LoopNode
import LoopWire
import Testing

@testable import LoopCommands

@Suite struct `The table of loopctl status` {
    private static var report: StatusReport {
        var report = StatusReport(loop: "linkcheck", schema: 1)
        report.history = "00c0ffee00c0ffee"
        report.epoch = 1
        report.seq = 4211
        report.uptimeMilliseconds = 62_500
        report.eventsPerSecond = 812.4
        report.isReady = true
        report.progress = Progress(done: 412, found: 1203, unit: "pages", note: "3 broken")
        var worker = StatusReport.Peer(
            name: "worker-1", peer: PeerID(high: 1, low: 2), session: SessionID(2), groups: ["default", "slow"],
            capacity: 16)
        worker.leases = 14
        worker.leaseMilliseconds = 2780
        worker.completed = 103
        var observer = StatusReport.Peer(
            name: "", peer: PeerID(high: 0xABCD_EF01_0000_0000, low: 2), session: SessionID(13), groups: [], capacity: 0
        )
        observer.leaseMilliseconds = -120
        observer.lag = 2
        report.peers = [worker, observer]
        var fetch = StatusReport.FeedbackCounts(name: "fetch")
        fetch.running = 56
        fetch.waiting = 12
        report.feedbacks = [fetch]
        report.quarantined = 1
        report.warnings = ["1 EVENT IS QUARANTINED: see: loopctl quarantine list", "and more"]
        report.parked = [
            StatusReport.Parked(
                effect: EffectID(feedback: 0, seq: Seq(7), index: 1), feedback: "fetch", failures: 4, message: "no room"
            )
        ]
        report.counters = ["malformedFrame": 3, "duplicateEntry": 0]
        return report
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300])
    func `shows whatever numbers a reducer sends`(_ number: Double) {
        var report = Self.report
        let progress = AttemptProgress(
            effect: EffectID(feedback: 0, seq: Seq(9), index: 0), attempt: Attempt(epoch: 1, count: 3),
            progress: EffectProgress(0.4, "page 12"))
        var effect = StatusReport.EffectReport(progress, feedback: "fetch", session: SessionID(2))
        effect.fraction = number
        report.effectReports = [effect]
        report.eventsPerSecond = number
        report.uptimeMilliseconds = .min
        report.nextTimer = .max
        report.timers = 1
        report.peers[0].leaseMilliseconds = .min
        #expect(StatusTable(report).text.contains("0.9.0           fetch           2   ? %  page 12"))
    }

    @Test func `shows how far effects have come, with control characters escaped, and nothing if none has said so`() {
        var report = Self.report
        #expect(!StatusTable(report).text.contains("PROGRESS"))
        let progress = AttemptProgress(
            effect: EffectID(feedback: 0, seq: Seq(9), index: 0), attempt: Attempt(epoch: 1, count: 3),
            progress: EffectProgress(0.4, "page 12\u{1b}[2J"))
        report.effectReports = [StatusReport.EffectReport(progress, feedback: "fetch", session: SessionID(2))]
        report.effectReportsLeftOut = 3
        let text = StatusTable(report).text
        #expect(
            text.contains(
                """
                RUNNING EFFECT  FEEDBACK  SESSION  DONE  PROGRESS
                0.9.0           fetch           2  40 %  page 12
                """))
        #expect(!text.contains("\u{1b}"))
        #expect(text.contains("… and 3 more"))
    }

    @Test func `leaves out peers that have left, and counters that are 0`() {
        var report = Self.report
        let text = StatusTable(report).text
        #expect(
            text.contains(
                """
                WORKER    SESSION  EFFECTS  LEASE  LAG  COMPLETED  GROUPS
                worker-1        2    14/16  2.8 s    0        103  default,slow
                1 silent without effects: --all shows them

                """))
        #expect(
            text.hasSuffix(
                """
                DROPPED OR REFUSED  TIMES
                malformedFrame          3
                """))
        // A silent worker whose effects no one else has taken yet matters.
        report.peers[1].leases = 2
        #expect(StatusTable(report).text.contains("abcdef01"))
        report.peers = [Self.report.peers[1]]
        report.counters = ["duplicateEntry": 0]
        let quiet = StatusTable(report).text
        #expect(quiet.contains("\n\nno workers, 1 silent without effects: --all shows them\n\n"))
        #expect(!quiet.contains("REFUSED"))
    }

    @Test func `lists workers by name, however they have joined, and those without a name last`() {
        var report = Self.report
        let peers = [("w1", 2), ("", 3), ("p1", 9), ("p1", 4)] as [(String, UInt64)]
        report.peers = peers.map { name, session in
            StatusReport.Peer(
                name: name, peer: PeerID(high: session << 32, low: 1), session: SessionID(session), groups: [],
                capacity: 1)
        }
        let lines = StatusTable(report).text.split(separator: "\n").drop { !$0.hasPrefix("WORKER") }
        let shown = lines.dropFirst().prefix(4).map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
        #expect(shown == ["p1 4", "p1 9", "w1 2", "00000003 3"])
    }

    @Test func `has all of a report with --all`() {
        #expect(
            StatusTable(Self.report, showsAll: true).text == """
                linkcheck, ready
                epoch 1, seq 4211, 812 events/s, up 1 min 2 s, schema 1, history 00c0ffee00c0ffee
                412 of 1203 pages, 3 broken

                WARNING: 1 EVENT IS QUARANTINED: see: loopctl quarantine list
                WARNING: and more

                WORKER    SESSION  EFFECTS  LEASE  LAG  COMPLETED  GROUPS
                worker-1        2    14/16  2.8 s    0        103  default,slow
                abcdef01       13        -   over    2          0  -

                FEEDBACK  RUNNING  WAITING  COMPLETED  PARKED
                fetch          56       12          0       0

                PARKED EFFECT  FEEDBACK  FAILURES  LAST
                0.7.1          fetch            4  no room

                DROPPED OR REFUSED  TIMES
                duplicateEntry          0
                malformedFrame          3
                """)
    }

    @Test func `shows the reducers of a loop, and of a standby alone that it is one`() {
        var leader = StatusReport(loop: "jobs", schema: 1)
        (leader.role, leader.leader, leader.isReady, leader.epoch) = ("leader", "tcp://a:7710", true, 7)
        (leader.history, leader.seq) = ("h", 12)
        leader.journalLease = StatusReport.JournalLease(milliseconds: 1000, provenMillisecondsAgo: 37)
        var standby = StatusReport(loop: "jobs", schema: 1)
        (standby.role, standby.leader, standby.seq) = ("standby", "tcp://a:7710", 11)
        standby.following = StatusReport.Following(position: 20, lag: 3, lagMilliseconds: 14, coldBecause: nil)
        var lost = standby
        lost.leader = nil
        lost.journalFault = JournalFault(.tooManyConnections, sqlState: "53300", host: "db")
        (lost.journalFaultMilliseconds, lost.notReadyBecause) = (
            12_345, "it is a standby, and the journal could not connect"
        )
        lost.following = StatusReport.Following(position: 0, lag: 0, lagMilliseconds: nil, coldBecause: "no journal")
        let members = [
            StatusProbe.Member(address: "tcp://a:7710", report: leader),
            StatusProbe.Member(address: "tcp://standby:7710", report: standby),
            StatusProbe.Member(address: "tcp://c:7710", report: lost),
        ]
        #expect(
            StatusTable(leader, members: members).text == """
                jobs, ready
                epoch 7, seq 12, 0 events/s, up 0 s, schema 1, history h

                REDUCER             ROLE     EPOCH  SEQ               LAG
                tcp://a:7710        leader       7   12                 -  lease 1000 ms, proven 37 ms ago
                tcp://standby:7710  standby      -   11  3 records, 14 ms  follows tcp://a:7710
                tcp://c:7710        standby      -    -                 -  knows no leader, cold, too_many_connections
                tcp://c:7710: the journal: too_many_connections, SQLSTATE 53300, host db, for 12 s
                tcp://c:7710: it is a standby, and the journal could not connect
                tcp://c:7710: it does not follow: no journal

                no workers
                """)
        #expect(StatusTable(standby).text == "jobs, a standby: the leader is at tcp://a:7710")
        #expect(
            StatusTable(lost).text == """
                jobs, a standby: it knows no leader
                the journal: too_many_connections, SQLSTATE 53300, host db, for 12 s
                it is a standby, and the journal could not connect
                it does not follow: no journal
                """)
        lost.notReadyBecause = nil
        #expect(!StatusTable(lost).text.contains("\n\n"))
    }

    @Test func `shows each address that does not answer, and why`() {
        let silent = [
            SilentReducer(address: "tcp://b:7710", why: "nothing listens there"),
            SilentReducer(address: "tcp://c:7710", why: "the process may be stopped"),
        ]
        let members = [StatusProbe.Member(address: "tcp://a:7710", report: Self.report)]
        #expect(
            StatusTable(Self.report, members: members, silent: silent).text.contains(
                """

                REDUCER       ROLE    EPOCH   SEQ  LAG
                tcp://a:7710  leader      1  4211    -
                tcp://b:7710  -           -     -    -  no answer
                tcp://c:7710  -           -     -    -  no answer
                tcp://b:7710: no answer: nothing listens there
                tcp://c:7710: no answer: the process may be stopped

                """))
        #expect(!StatusTable(Self.report, members: members).text.contains("REDUCER"))
    }

    @Test func `warns of two reducers that lead with two journals`() {
        var (one, two) = (StatusReport(loop: "jobs", schema: 1), StatusReport(loop: "jobs", schema: 1))
        (one.history, one.epoch, one.isReady) = ("aa", 1, true)
        (two.history, two.epoch, two.isReady) = ("bb", 2, true)
        let members = [
            StatusProbe.Member(address: "tcp://a:7710", report: one),
            StatusProbe.Member(address: "tcp://b:7710", report: two),
        ]
        #expect(
            StatusTable(one, members: members).text.contains(
                "DIFFERENT HISTORIES: tcp://a:7710 in epoch 1 of history aa, tcp://b:7710 in epoch 2 of history bb; "))
        #expect(!StatusTable(one, members: [members[0], members[0]]).text.contains("WARNING"))
    }

    @Test func `warns of two reducers that lead with copies of one journal`() {
        func member(_ address: ReducerAddress, epoch: UInt64, isReady: Bool = true) -> StatusProbe.Member {
            var report = StatusReport(loop: "counter", schema: 1)
            (report.history, report.epoch, report.isReady) = ("aa", epoch, isReady)
            return StatusProbe.Member(
                address: address, report: report,
                state: StateID(history: History(10), epoch: Epoch(number: epoch, nonce: epoch), seq: .initial))
        }
        let one = member("tcp://a:7710", epoch: 15)
        func text(_ other: StatusProbe.Member) -> String { StatusTable(one.report, members: [one, other]).text }
        #expect(
            text(member("tcp://b:7710", epoch: 14)).contains(
                "TWO REDUCERS LEAD: tcp://a:7710 in epoch 15 of history aa, tcp://b:7710 in epoch 14 of history aa"))
        #expect(!text(member("tcp://b:7710", epoch: 14, isReady: false)).contains("WARNING"))
        // One reducer at two addresses.
        #expect(!text(member("tcp://b:7710", epoch: 15)).contains("WARNING"))
    }

    @Test func `says why a reducer is not ready`() {
        var report = StatusReport(loop: "linkcheck", schema: 1)
        report.notReadyBecause = "the loop has ended"
        report.exitCode = 1
        report.history = "h"
        #expect(
            StatusTable(report).text == """
                linkcheck, not ready: the loop has ended
                epoch 0, seq 0, 0 events/s, up 0 s, schema 1, history h
                ended with exit code 1

                no workers
                """)
    }
}

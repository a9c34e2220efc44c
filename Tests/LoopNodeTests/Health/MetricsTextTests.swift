import LoopCluster
import LoopCore
import LoopWire
import Testing

@testable import LoopNode

@Suite struct `Metrics as text` {
    private let families: [MetricFamily] = [
        .gauge("loop_ready", "Whether \"it\" works.", 1),
        .counter("loop_epochs_begun", "Epochs.", 3),
        .each(.gauge, "loop_role", "The role.", by: "role", [("a\"b\\c\nd", 0.5)]),
        .gauge("loop_absent", "Not known.", nil),
    ]

    @Test func `are in Prometheus' format unless OpenMetrics is asked for`() {
        #expect(
            MetricsText.text(families, isOpenMetrics: false) == #"""
                # HELP loop_ready Whether "it" works.
                # TYPE loop_ready gauge
                loop_ready 1
                # HELP loop_epochs_begun_total Epochs.
                # TYPE loop_epochs_begun_total counter
                loop_epochs_begun_total 3
                # HELP loop_role The role.
                # TYPE loop_role gauge
                loop_role{role="a\"b\\c\nd"} 0.5

                """#)
    }

    @Test func `name the family of a counter without its ending, and end, in OpenMetrics`() {
        let text = MetricsText.text(families, isOpenMetrics: true)
        #expect(text.contains("# TYPE loop_epochs_begun counter\nloop_epochs_begun_total 3\n"))
        #expect(text.contains(#"# HELP loop_ready Whether \"it\" works."#))
        #expect(text.hasSuffix("# EOF\n"))
    }

    @Test func `count the workers that are heard, and what they may hold`() {
        var report = StatusReport(loop: "test", schema: 1)
        report.role = StatusReport.leaderRole
        for (number, lease) in [(1, 900), (2, -100)] as [(UInt64, Int64)] {
            var worker = StatusReport.Peer(
                name: "worker", peer: PeerID(high: number, low: 1), session: SessionID(number), groups: ["default"],
                capacity: 4)
            worker.leases = 3
            worker.leaseMilliseconds = lease
            report.peers.append(worker)
        }
        let lines = MetricsText.text(report.metrics, isOpenMetrics: false).split(separator: "\n")
        for line in ["loop_workers{group=\"default\"} 1", "loop_worker_capacity 4", "loop_worker_held 3"] {
            #expect(lines.contains { $0 == line })
        }
    }

    @Test func `count each duration in every bucket that holds it`() {
        var histogram = Histogram()
        for milliseconds in [0, 1, 1, 30, 60_000] { histogram.note(.milliseconds(milliseconds)) }
        let text = MetricsText.text([.histogram("t_seconds", "Times.", histogram)], isOpenMetrics: false)
        let lines = text.split(separator: "\n")
        #expect(lines.contains(#"t_seconds_bucket{le="0.0001"} 1"#))
        #expect(lines.contains(#"t_seconds_bucket{le="0.001"} 3"#))
        #expect(lines.contains(#"t_seconds_bucket{le="0.025"} 3"#))
        #expect(lines.contains(#"t_seconds_bucket{le="0.05"} 4"#))
        #expect(lines.contains(#"t_seconds_bucket{le="10"} 4"#))
        #expect(lines.contains(#"t_seconds_bucket{le="+Inf"} 5"#))
        #expect(lines.contains("t_seconds_count 5"))
        #expect(lines.contains { $0.hasPrefix("t_seconds_sum 60.03") })
    }

    @Test func `write numbers as both formats read them`() {
        #expect(
            [1, 0.5, 1e18, .infinity, -.infinity].map { MetricsText.number($0) }
                == ["1", "0.5", "1000000000000000000", "+Inf", "-Inf"])
        #expect(MetricsText.number(.nan) == "NaN")
    }
}

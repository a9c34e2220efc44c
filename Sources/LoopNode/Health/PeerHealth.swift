import LoopCluster
import LoopCollections
import LoopCore
import LoopWire

/// What a peer's thread last noted about itself: a worker, or a handle on a loop that runs elsewhere.
final class PeerBoard: HealthSource {
    struct Contents: Sendable {
        /// When the newest turn ended.
        var turnAt = MonotonicTime.zero
        var isJoined = false
        /// The address of the present connection.
        var place = ""
        /// What it waits for, or nil if the log has not said so yet.
        var waitsFor: String?
        var capacity = 0
        var runningCount = 0
        var outboxCount = 0
        var outboxByteCount = 0
        /// How often it has lost its reducer after it had joined, by the cause.
        var losses: [ContactLoss: UInt64] = [:]
        /// Ended attempts by feedback and outcome.
        var attempts: [Ended: UInt64] = [:]
        /// How long attempts took until they ended or were stopped, by feedback.
        var runs: [String: Histogram] = [:]
        /// How long it took until the outcomes of entries were known.
        var sends = Histogram()
    }

    struct Ended: Hashable, Sendable {
        let feedback: String
        let outcome: String
    }

    private let content: Locked<Contents>
    private let wakeup: Wakeup
    private let loop: String
    private let tracer: Tracer?

    /// How an attempt has ended whose end is an entry of this kind.
    static func outcome(of kind: Entry.Kind) -> String {
        switch kind {
        case .event, .completed: "completed"
        case .failed: "failed"
        case .released: "released"
        }
    }

    /// - Parameters:
    ///   - wakeup: lets the peer's thread take a turn.
    ///   - tracer: records the peer's spans, or nil if none are recorded.
    init(loop: String, wakeup: Wakeup, tracer: Tracer? = nil) {
        self.tracer = tracer
        content = Locked(Contents())
        self.wakeup = wakeup
        self.loop = loop
    }

    /// Called on the peer's thread.
    func note(_ change: (inout Contents) -> Void) { content.withLock { change(&$0) } }

    func ask() -> any HealthInquiry {
        let now = SystemClock.monotonic
        wakeup.signal()
        return Inquiry(self, askedAt: now)
    }

    private final class Inquiry: HealthInquiry {
        private let board: PeerBoard
        private let askedAt: MonotonicTime

        init(_ board: PeerBoard, askedAt: MonotonicTime) {
            self.board = board
            self.askedAt = askedAt
        }

        func report() -> HealthReport? {
            let contents = board.content.withLock { $0 }
            return contents.turnAt >= askedAt ? board.report(contents, isLive: true) : nil
        }

        func reportWithoutAnswer() -> HealthReport { board.report(board.content.withLock { $0 }, isLive: false) }
    }

    private func report(_ contents: Contents, isLive: Bool) -> HealthReport {
        let stuck = HealthReport.Verdict(
            isTrue: false,
            text:
                "the node's thread has not taken a turn for \(HealthServer.patience.text): an effect or a task on it takes long"
        )
        let ready = HealthReport.Verdict(
            isTrue: contents.isJoined,
            text: contents.isJoined
                ? "it is in contact with the reducer at \(contents.place)"
                : contents.waitsFor ?? "it has no contact with the reducer at \(contents.place)")
        return HealthReport(
            isLive: isLive ? .init(isTrue: true, text: "turns go on") : stuck, isReady: isLive ? ready : stuck,
            json: nil, metrics: metrics(contents, isLive: isLive))
    }

    private func metrics(_ contents: Contents, isLive: Bool) -> [MetricFamily] {
        [
            .gauge("loop_up", "Whether the node's thread answers.", isLive ? 1 : 0),
            MetricFamily(
                name: "loop_peer_info", kind: .gauge, help: "The loop of this peer.",
                samples: [.init(labels: [("loop", loop)], value: 1)]),
            .gauge(
                "loop_ready", "Whether the peer is in contact with its reducer.", isLive && contents.isJoined ? 1 : 0),
            .gauge("loop_peer_capacity", "Effects that the peer may run at once.", Double(contents.capacity)),
            .gauge("loop_peer_running", "Effects that the peer runs.", Double(contents.runningCount)),
            .gauge("loop_peer_outbox_entries", "Entries whose outcomes are not known.", Double(contents.outboxCount)),
            .gauge("loop_peer_outbox_bytes", "The bytes of these entries.", Double(contents.outboxByteCount)),
            .each(
                .counter, "loop_peer_contact_lost", "How often the peer has lost its reducer.", by: "reason",
                ContactLoss.allCases.map { ($0.rawValue, Double(contents.losses[$0, default: 0])) }),
            MetricFamily(
                name: "loop_peer_attempts", kind: .counter, help: "Ended attempts of effects.",
                samples: contents.attempts.sorted {
                    ($0.key.feedback, $0.key.outcome) < ($1.key.feedback, $1.key.outcome)
                }
                .map {
                    .init(
                        labels: [("feedback", $0.key.feedback), ("outcome", $0.key.outcome)], value: Double($0.value))
                }),
            .histograms(
                "loop_effect_run_seconds", "How long attempts took until they ended or were stopped.", by: "feedback",
                contents.runs),
            .histogram(
                "loop_send_seconds", "How long it took until the outcomes of sent entries were known.", contents.sends),
            Tracer.metrics(of: tracer),
        ]
    }
}

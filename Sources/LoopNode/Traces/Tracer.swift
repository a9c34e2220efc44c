import Linux
import LoopCollections
import LoopCore

/// The spans of one node, and the thread that sends them to a collector. What it cannot send in time is dropped and counted. The
/// node's own threads only append to a queue.
final class Tracer: Sendable {
    private struct State {
        /// The sends whose outcomes are not known, by the IDs of their spans.
        var sends: [UInt64: TraceSpan] = [:]
        /// The spans that wait to be exported.
        var queue: [TraceSpan] = []
        /// How many spans the thread is sending.
        var sendingCount = 0
        var exportedCount: UInt64 = 0
        var droppedCount: UInt64 = 0
        /// Why spans were dropped last.
        var flaw = ""
        /// Until when the end of the node waits for the thread, or nil before that end.
        var stopsAt: MonotonicTime?
        /// Whether the thread has ended, or was never started.
        var isOver = true
        var log: NodeLog?

        mutating func drop(_ count: Int, because flaw: String) {
            droppedCount += UInt64(count)
            self.flaw = flaw
        }
    }

    private let export: TraceExport
    private let loop: String
    private let resource: [(name: String, value: TraceSpan.Value)]
    private let state = Monitor(State())

    /// More spans than this do not wait.
    private static let queueMax = 4096
    /// The largest number of spans in a request.
    private static let batchMax = 512
    /// How long spans wait for others of the same request.
    private static let interval = Duration.seconds(1)
    /// The pauses before a request is sent again, after which its spans are dropped.
    private static let pauses: [Duration] = [.seconds(1), .seconds(2), .seconds(4), .seconds(8)]
    /// After this time a request is not sent again, so that its spans do not hold up the next ones for longer.
    private static let patience = Duration.seconds(15)
    /// How long a collector may take for an answer, in milliseconds.
    private static let answerLimit: Int32 = 10_000
    /// After this time without dropped spans, the log speaks of the next ones.
    private static let silence = Duration.seconds(60)
    /// How long the end of a node waits for what is left.
    private static let stopLimit = Duration.seconds(2)

    /// - Parameter role: what the node is in the loop: `reducer`, `worker` or `client`.
    init(_ export: TraceExport, loop: String, role: String) {
        self.export = export
        self.loop = loop
        resource = [
            ("service.name", .text("\(loop)-\(role)")), ("service.namespace", .text(loop)),
            ("service.instance.id", .text(TraceContext.digits(SystemRandom.uint64()))),
            ("service.version", .text(LoopVersion.current)), ("host.name", .text(System.hostName)),
            ("process.pid", .number(UInt64(max(0, System.processID)))),
        ]
    }

    /// How many spans were exported and dropped.
    var counts: (exported: UInt64, dropped: UInt64) {
        state.withLock { ($0.exportedCount, $0.droppedCount) }
    }

    /// The metric of these counts. It has no samples without a tracer.
    static func metrics(of tracer: Tracer?) -> MetricFamily {
        .each(
            .counter, "loop_spans", "Spans of traces that were exported or dropped.", by: "result",
            tracer.map { [("exported", Double($0.counts.exported)), ("dropped", Double($0.counts.dropped))] } ?? [])
    }

    // MARK: Spans

    /// Begins the span of an event that is about to be sent.
    /// - Parameter parent: the context in which it is sent, or nil if there is none.
    /// - Returns: the context to send, or nil if the event is in no trace.
    func beginSend(in parent: TraceContext?) -> TraceContext? {
        let trace: TraceContext?
        if let parent {
            guard parent.isSampled else { return nil }
            trace = place(in: parent)
        } else {
            guard export.share > 0, Double.random(in: 0..<1) < export.share else { return nil }
            trace = TraceContext(
                high: .random(in: 1 ... .max), low: .random(in: 0 ... .max), span: .random(in: 1 ... .max))
        }
        guard let trace else { return nil }
        let span = TraceSpan(sending: trace, parent: parent?.span, began: SystemClock.monotonic, to: loop)
        return state.withLock { state in
            guard state.sends.count < Self.queueMax else {
                state.drop(1, because: "the outcomes of \(Self.queueMax) traced events are not known yet")
                // Without a span of its own, the event goes on in the caller's.
                return parent
            }
            state.sends[trace.span] = span
            return trace
        }
    }

    /// Ends the span of a send, unless it has ended already.
    /// - Parameters:
    ///   - seq: the seq at which the event was applied, if the sender was told.
    ///   - refusal: why the event was not applied.
    func endSend(_ trace: TraceContext, seq: Seq = .initial, refusal: SendRefusal.Reason? = nil) {
        guard var span = state.withLock({ $0.sends.removeValue(forKey: trace.span) }) else { return }
        span.ended = SystemClock.monotonic
        span.error = refusal.map { "\($0)" }
        if seq != .initial { span.attributes.append(("loop.seq", .number(seq.value))) }
        record(span)
    }

    /// The place of a new span in a trace.
    func place(in parent: TraceContext) -> TraceContext { parent.within(span: .random(in: 1 ... .max)) }

    /// Takes a span that has ended.
    func record(_ span: TraceSpan) {
        let wakes = state.withLock { state in
            guard state.queue.count < Self.queueMax else {
                state.drop(1, because: "the collector at \(export.authority) has not taken \(Self.queueMax) others yet")
                return false
            }
            state.queue.append(span)
            return state.queue.count == 1 || state.queue.count == Self.batchMax
        }
        if wakes { state.broadcast() }
    }

    // MARK: The thread

    /// Starts the thread. Without one, spans wait until there are too many.
    /// - Throws: `NodeError.system` if it cannot be started.
    func start(_ log: NodeLog) throws(NodeError) {
        state.withLock { ($0.isOver, $0.log) = (false, log) }
        do throws(SystemError) {
            _ = try NodeThread("loop-traces", stackBytes: 1 << 20) { [self] in work() }
        } catch {
            state.withLock { $0.isOver = true }
            throw .system("\(error)")
        }
    }

    /// Exports what is left, for two seconds at most. Sends whose outcomes are not known end now.
    func stop() {
        let left = state.withLock { state in
            defer { state.sends = [:] }
            return Array(state.sends.values)
        }
        for var span in left {
            span.ended = SystemClock.monotonic
            span.error = "unknown"
            record(span)
        }
        state.withLock { $0.stopsAt = SystemClock.monotonic + Self.stopLimit }
        state.broadcast()
        if state.wait(until: { $0.isOver }, timeout: Self.stopLimit) { return }
        let count = state.withLock { state in
            let flaw =
                "the collector at \(export.authority) has not taken them within \(Self.stopLimit.text) of the end"
            state.drop(state.queue.count, because: flaw)
            defer { state.queue = [] }
            return state.queue.count + state.sendingCount
        }
        if count > 0 { sayDropped(count) }
    }

    private func work() {
        // How many dropped spans are known, and when there were new ones last.
        var (known, newestAt) = (UInt64(0), MonotonicTime?.none)
        while true {
            state.wait(until: { !$0.queue.isEmpty || $0.stopsAt != nil })
            _ = state.wait(until: { $0.queue.count >= Self.batchMax || $0.stopsAt != nil }, timeout: Self.interval)
            let batch = state.withLock { state in
                let batch = Array(state.queue.prefix(Self.batchMax))
                state.queue.removeFirst(batch.count)
                state.sendingCount = batch.count
                return batch
            }
            if batch.isEmpty { break }
            let flaw = send(batch)
            let now = SystemClock.monotonic
            let (dropped, isLate) = state.withLock { state in
                if let flaw {
                    state.drop(batch.count, because: flaw)
                } else {
                    state.exportedCount += UInt64(batch.count)
                }
                state.sendingCount = 0
                return (state.droppedCount, state.stopsAt.map { now >= $0 } ?? false)
            }
            // The end of the node has said so if it has stopped waiting.
            if dropped > known, !isLate {
                if newestAt.map({ now - $0 > Self.silence }) ?? true { sayDropped(Int(dropped - known)) }
                (known, newestAt) = (dropped, now)
            }
        }
        state.withLock { $0.isOver = true }
        state.broadcast()
    }

    private func sayDropped(_ count: Int) {
        let (flaw, log) = state.withLock { ($0.flaw, $0.log) }
        log?.note(
            .tracesDropped,
            "\(count == 1 ? "1 span was" : "\(count) spans were") dropped, because \(flaw); the loop goes on, and further ones are"
                + " only counted",
            [.address(export.authority), .reason(flaw)])
    }

    /// Sends spans, again and again if that may help.
    /// - Returns: why they could not be sent, or nil if they were.
    private func send(_ spans: [TraceSpan]) -> String? {
        let began = SystemClock.monotonic
        let unix = System.wallTime
        let moment = began + (SystemClock.monotonic - began) / 2
        let body = SpanText.request(
            spans, of: resource,
            clocks: (moment, UInt64(unix.seconds) * 1_000_000_000 + UInt64(unix.nanoseconds)))
        var pauses = Self.pauses[...]
        while true {
            let flaw: String
            var mayHelp = true
            switch post(body) {
            case .status(200..<300): return nil
            case .status(let status):
                flaw = "has answered \(export.path) with the status \(status)"
                mayHelp = [429, 502, 503, 504].contains(status)
            case .none(let why): flaw = why
            }
            guard mayHelp, SystemClock.monotonic - began < Self.patience, let pause = pauses.popFirst(),
                !state.wait(until: { $0.stopsAt != nil }, timeout: pause / 2 + pause * Double.random(in: 0..<0.5))
            else { return "the collector at \(export.authority) \(flaw)" }
        }
    }

    private enum Answer {
        case status(Int)
        /// There is no answer, and this is what the collector does instead.
        case none(String)
    }

    private func post(_ body: String) -> Answer {
        let request = """
            POST \(export.path) HTTP/1.1\r
            Host: \(export.authority)\r
            Content-Type: application/json\r
            Content-Length: \(body.utf8.count)\r
            Connection: close\r
            \r
            \(body)
            """
        // The status is all that counts: "HTTP/1.1 200".
        let trial = Sockets.tryConnecting(
            host: export.host, port: export.port, milliseconds: Self.answerLimit, greeting: Array(request.utf8),
            replyBytes: 12)
        switch trial {
        case .accepted(let reply, let hasEnded):
            let line = String(decoding: reply.prefix(12), as: UTF8.self)
            if let match = line.wholeMatch(of: /HTTP\/1\.[01] (\d{3})/), let status = Int(match.output.1) {
                return .status(status)
            }
            if hasEnded && reply.isEmpty { return .none("has closed the connection without an answer") }
            return .none(
                reply.count < 12 && !hasEnded
                    ? "has not answered within \(Duration.milliseconds(Self.answerLimit).text)"
                    : "does not answer by HTTP")
        case .refused: return .none("is not there: nothing listens at this port")
        case .silent: return .none("cannot be reached: there is no answer to a connection")
        case .noSuchHost(let text): return .none("is not known: \(text)")
        case .failed(let text): return .none("cannot be reached: \(text)")
        case .unknown: return .none("cannot be reached: no socket could be made")
        }
    }
}

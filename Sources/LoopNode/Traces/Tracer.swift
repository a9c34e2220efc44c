import Linux
import LoopCollections
import LoopCore

/// The spans of one node, and the thread that sends them to a collector. What it cannot send in time is dropped and counted. The
/// node's own threads only append to a queue.
final class Tracer: Sendable {
    private struct State {
        /// The sends whose outcomes are not known, by the IDs of their spans.
        var sends: [UInt64: Span] = [:]
        /// The spans that wait to be exported.
        var queue: [Span] = []
        var exportedCount: UInt64 = 0
        var droppedCount: UInt64 = 0
        var isStopping = false
        /// Whether the thread has ended, or was never started.
        var isOver = true
    }

    private let export: TraceExport
    private let loop: String
    private let resource: [(name: String, value: Span.Value)]
    private let state = Monitor(State())

    /// More spans than this do not wait.
    private static let queueMax = 4096
    /// The largest number of spans in a request.
    private static let batchMax = 512
    /// How long spans wait for others of the same request.
    private static let interval = Duration.seconds(1)
    /// The pauses before a request is sent again, after which its spans are dropped.
    private static let pauses: [Duration] = [.seconds(1), .seconds(2), .seconds(4), .seconds(8)]
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
        let span = Span(sending: trace, parent: parent?.span, began: SystemClock.monotonic, to: loop)
        state.withLock { state in
            if state.sends.count < Self.queueMax { state.sends[trace.span] = span } else { state.droppedCount += 1 }
        }
        return trace
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
    func record(_ span: Span) {
        let wakes = state.withLock { state in
            guard state.queue.count < Self.queueMax else {
                state.droppedCount += 1
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
        state.withLock { $0.isOver = false }
        do throws(SystemError) {
            _ = try NodeThread("loop-traces", stackBytes: 1 << 20) { [self] in work(log) }
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
        state.withLock { $0.isStopping = true }
        state.broadcast()
        _ = state.wait(until: { $0.isOver }, timeout: Self.stopLimit)
    }

    private func work(_ log: NodeLog) {
        // How many dropped spans are known, and whether the log has said so since the last time when none were dropped.
        var (known, hasLogged) = (UInt64(0), false)
        while true {
            state.wait(until: { !$0.queue.isEmpty || $0.isStopping })
            _ = state.wait(until: { $0.queue.count >= Self.batchMax || $0.isStopping }, timeout: Self.interval)
            let batch = state.withLock { state in
                let batch = Array(state.queue.prefix(Self.batchMax))
                state.queue.removeFirst(batch.count)
                return batch
            }
            if batch.isEmpty { break }
            let flaw = send(batch)
            let dropped = state.withLock { state in
                if flaw == nil {
                    state.exportedCount += UInt64(batch.count)
                } else {
                    state.droppedCount += UInt64(batch.count)
                }
                return state.droppedCount
            }
            if dropped > known, !hasLogged {
                let flaw = flaw ?? "takes fewer than there are"
                log.note(
                    .tracesDropped,
                    "\(dropped - known) spans were dropped, because the collector at \(export.authority) \(flaw); the loop goes on,"
                        + " and further ones are only counted",
                    [.address(export.authority), .reason(flaw)])
            }
            (known, hasLogged) = (dropped, dropped > known)
        }
        state.withLock { $0.isOver = true }
        state.broadcast()
    }

    /// Sends spans, again and again if that may help.
    /// - Returns: why they could not be sent, or nil if they were.
    private func send(_ spans: [Span]) -> String? {
        let unix = System.wallTime
        let body = SpanText.request(
            spans, of: resource,
            clocks: (SystemClock.monotonic, UInt64(unix.seconds) * 1_000_000_000 + UInt64(unix.nanoseconds)))
        var pauses = Self.pauses[...]
        while true {
            let status = post(body)
            if let status, 200..<300 ~= status { return nil }
            let flaw = status.map { "has answered with the status \($0)" } ?? "does not answer"
            guard status == nil || [429, 502, 503, 504].contains(status), let pause = pauses.popFirst(),
                !state.wait(until: { $0.isStopping }, timeout: pause / 2 + pause * Double.random(in: 0..<0.5))
            else { return flaw }
        }
    }

    /// - Returns: the status, or nil if there is no answer.
    private func post(_ body: String) -> Int? {
        let request = """
            POST \(export.path) HTTP/1.1\r
            Host: \(export.authority)\r
            Content-Type: application/json\r
            Content-Length: \(body.utf8.count)\r
            Connection: close\r
            \r
            \(body)
            """
        // The other side ends the connection after its answer.
        let trial = Sockets.tryConnecting(
            host: export.host, port: export.port, milliseconds: 5000, greeting: Array(request.utf8), replyBytes: 4096)
        guard case .accepted(let reply, _) = trial else { return nil }
        let line = String(decoding: reply.prefix(12), as: UTF8.self)
        return line.wholeMatch(of: /HTTP\/1\.[01] (\d{3})/).flatMap { Int($0.output.1) }
    }
}

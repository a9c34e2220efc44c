import LoopCluster
import LoopCore
import LoopWire

/// One step of an event's way through a loop, with its beginning and its end.
struct TraceSpan: Sendable {
    /// The kind of a span in OTLP.
    enum Kind: Int, Sendable {
        case producer = 4
        case consumer = 5
    }

    enum Value: Equatable, Sendable {
        case text(String)
        case number(UInt64)
    }

    /// What is done, and with what.
    var operation: (name: String, object: String)
    var kind: Kind
    /// The trace, and the ID of this span in it.
    var trace: TraceContext
    /// The ID of the span that caused this one, or nil if it begins the trace.
    var parent: UInt64?
    var began: MonotonicTime
    var ended: MonotonicTime
    var attributes: [(name: String, value: Value)]
    /// Why the step has failed, or nil if it has not.
    var error: String?
}

extension TraceSpan {
    /// An event, from its sending until its outcome is known.
    init(sending trace: TraceContext, parent: UInt64?, began: MonotonicTime, to loop: String) {
        self.init(
            operation: ("send", loop), kind: .producer, trace: trace, parent: parent, began: began, ended: began,
            attributes: Self.messaging("send", "send", loop))
    }

    /// An event, from its reading until its record is durable.
    init(applied event: TracedEvent, of loop: String, began: MonotonicTime, ended: MonotonicTime) {
        let record = event.record
        self.init(
            operation: ("apply", loop), kind: .consumer, trace: event.trace, parent: event.parent, began: began,
            ended: ended,
            attributes: Self.messaging(
                "apply", "process", loop,
                [
                    ("messaging.message.body.size", .number(UInt64(record.bytes.count))),
                    ("loop.seq", .number(record.seq.value)), ("loop.session", .number(record.session.value)),
                ]))
        // An event that is no case of an enumeration has only values.
        if let name = EventText.caseName(of: record.bytes) { attributes.append(("loop.event", .text(name))) }
    }

    /// An attempt of an effect, from its grant until its end.
    init(
        attempt grant: Grant, _ feedback: String, in trace: TraceContext, of loop: String, began: MonotonicTime,
        ended: MonotonicTime, outcome: String
    ) {
        self.init(
            operation: ("effect", feedback), kind: .consumer, trace: trace, parent: grant.trace?.span, began: began,
            ended: ended,
            attributes: Self.messaging(
                "effect", "process", loop,
                [
                    ("loop.feedback", .text(feedback)), ("loop.effect", .text("\(grant.effect)")),
                    ("loop.attempt", .text("\(grant.attempt)")), ("loop.failures", .number(UInt64(grant.failures))),
                    ("loop.outcome", .text(outcome)),
                ]), error: outcome == "failed" ? "failed" : nil)
    }

    /// The attributes that the semantic conventions of OpenTelemetry name, and `more`.
    private static func messaging(
        _ name: String, _ type: String, _ loop: String, _ more: [(name: String, value: Value)] = []
    ) -> [(name: String, value: Value)] {
        var attributes: [(name: String, value: Value)] = [
            ("messaging.system", .text("loop")), ("messaging.destination.name", .text(loop)),
            ("messaging.operation.name", .text(name)), ("messaging.operation.type", .text(type)),
        ]
        attributes += more
        return attributes
    }
}

/// The JSON of OTLP 1: IDs are hexadecimal digits, and numbers of 64 bits are texts.
enum SpanText {
    /// A request with these spans.
    /// - Parameter clocks: two readings of the same moment, by which times of the steady clock become civil ones.
    static func request(
        _ spans: [TraceSpan], of resource: [(name: String, value: TraceSpan.Value)],
        clocks: (monotonic: MonotonicTime, unix: UInt64)
    ) -> String {
        let texts = spans.map { text($0, clocks) }.joined(separator: ",")
        return #"{"resourceSpans":[{"resource":{"attributes":\#(text(resource))},"#
            + #""scopeSpans":[{"scope":{"name":"loop"},"spans":[\#(texts)]}]}]}"#
    }

    private static func text(_ span: TraceSpan, _ clocks: (monotonic: MonotonicTime, unix: UInt64)) -> String {
        func time(_ time: MonotonicTime) -> String {
            "\"\(clocks.unix &- (clocks.monotonic.nanoseconds &- time.nanoseconds))\""
        }
        var attributes = span.attributes
        if let error = span.error { attributes.append(("error.type", .text(error))) }
        return JSONText.object([
            ("traceId", "\"\(span.trace.traceID)\""), ("spanId", "\"\(TraceContext.digits(span.trace.span))\""),
            ("parentSpanId", span.parent.map { "\"\(TraceContext.digits($0))\"" }),
            ("name", JSONText.quoted("\(span.operation.name) \(span.operation.object)")),
            ("kind", "\(span.kind.rawValue)"),
            ("startTimeUnixNano", time(span.began)), ("endTimeUnixNano", time(span.ended)),
            ("attributes", text(attributes)), ("status", span.error == nil ? nil : #"{"code":2}"#),
        ])
    }

    private static func text(_ attributes: [(name: String, value: TraceSpan.Value)]) -> String {
        let texts = attributes.map { name, value in
            let (type, text) =
                switch value {
                case .text(let text): ("stringValue", JSONText.quoted(text))
                case .number(let number): ("intValue", "\"\(Int64(clamping: number))\"")
                }
            return JSONText.object([("key", JSONText.quoted(name)), ("value", JSONText.object([(type, text)]))])
        }
        return "[\(texts.joined(separator: ","))]"
    }
}

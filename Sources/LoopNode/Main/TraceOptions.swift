package import LoopCore

/// The options of a program that records traces.
enum TraceOptions {
    fileprivate static let traces = Option(
        optional: "traces", .string.named("URL"),
        help: "send spans to this collector for OTLP over HTTP, such as http://127.0.0.1:4318")
    fileprivate static let share = Option(
        "trace-share", .number(in: 0...1), default: 0.01,
        help: "with --traces, the share of events without a trace of their own that begin one; their sender decides")

    static let all: [any DeclaredOption] = [traces, share]
}

extension ParsedArguments {
    /// Where the program sends its spans, or nil for nowhere.
    var traces: TraceExport? {
        get throws(NodeError) {
            try self[TraceOptions.traces].map { url throws(NodeError) in
                try TraceExport(url, share: self[TraceOptions.share])
            }
        }
    }
}

extension ValueType where Value == TraceContext {
    /// The header `traceparent` of W3C Trace Context.
    package static var traceContext: ValueType<TraceContext> {
        ValueType(
            placeholder: "CONTEXT",
            expected: "a context such as 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            read: { TraceContext(traceparent: $0) }, write: \.traceparent)
    }
}

/// The place of an event in a distributed trace, as W3C Trace Context (level 1) names it. An event that is sent in a task with a
/// ``current`` context continues that trace.
///
///     let context = TraceContext(traceparent: request.header("traceparent") ?? "")
///     try await TraceContext.$current.withValue(context) { try await loop.send(.paid) }
///
/// Contexts are for people who look into a loop. No state, hash or decision depends on them.
public struct TraceContext: Hashable, Sendable {
    /// The first 8 bytes of the trace's ID.
    package let high: UInt64
    /// The last 8 bytes of the trace's ID. The two halves are not both 0.
    package let low: UInt64
    /// The ID of the span that is the parent of what follows; not 0.
    package let span: UInt64
    /// Whether the trace is recorded. A context that is not sampled is never sent.
    public let isSampled: Bool

    /// The context of the running task. In the body of an effect, it is that of the effect, so that the body can pass it on to
    /// other services. Nil if there is none.
    @TaskLocal public static var current: TraceContext?

    /// Creates a context from its parts, or returns nil if an ID is 0.
    package init?(high: UInt64, low: UInt64, span: UInt64, isSampled: Bool = true) {
        guard high | low != 0, span != 0 else { return nil }
        (self.high, self.low, self.span, self.isSampled) = (high, low, span, isSampled)
    }

    /// Reads the header `traceparent`. Of a later version of the header, the part that this version defines is read.
    /// - Parameter text: such as `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`.
    /// - Returns: nil if the text is not valid.
    public init?(traceparent text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 55, [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
            let version = Self.number(bytes[0..<2]), version != 0xff,
            bytes.count == 55 || version > 0 && bytes[55] == UInt8(ascii: "-"),
            let high = Self.number(bytes[3..<19]), let low = Self.number(bytes[19..<35]),
            let span = Self.number(bytes[36..<52]), let flags = Self.number(bytes[53..<55])
        else { return nil }
        self.init(high: high, low: low, span: span, isSampled: flags & 1 != 0)
    }

    /// Returns the number of at most 16 hexadecimal digits, in lower case, or nil.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        digits.reduce(UInt64?(0)) { number, digit in
            let value: UInt8? =
                switch digit {
                case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
                case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
                default: nil
                }
            return number.flatMap { number in value.map { number << 4 | UInt64($0) } }
        }
    }

    /// The header `traceparent` for another service.
    public var traceparent: String { "00-\(traceID)-\(Self.digits(span))-\(isSampled ? "01" : "00")" }

    /// The trace's ID: 32 hexadecimal digits.
    package var traceID: String { Self.digits(high) + Self.digits(low) }

    /// 16 hexadecimal digits.
    package static func digits(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The context of another span of the same trace.
    /// - Parameter span: the ID of the span; 1 is taken for 0.
    package func within(span: UInt64) -> TraceContext {
        TraceContext(high: high, low: low, span: max(1, span), isSampled: isSampled) ?? self
    }
}

import LoopCore
import Testing

@Suite struct `The context of a trace` {
    private let header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test func `is read from the header and written as it was`() throws {
        let context = try #require(TraceContext(traceparent: header))
        #expect(context.isSampled)
        #expect(context.traceID == "0af7651916cd43dd8448eb211c80319c")
        #expect(context.span == 0xb7ad_6b71_6920_3331)
        #expect(context.traceparent == header)
        let silent = try #require(TraceContext(traceparent: String(header.dropLast()) + "0"))
        #expect(!silent.isSampled)
        #expect(silent.traceparent == String(header.dropLast()) + "0")
    }

    @Test func `keeps only the flag that this version knows`() throws {
        #expect(TraceContext(traceparent: String(header.dropLast(2)) + "ff")?.traceparent == header)
        #expect(TraceContext(traceparent: String(header.dropLast(2)) + "fe")?.isSampled == false)
    }

    @Test func `of a later version is read as far as this version goes`() {
        let later = "cc" + header.dropFirst(2)
        #expect(TraceContext(traceparent: later)?.traceparent == header)
        #expect(TraceContext(traceparent: later + "-what-the-future-will-be-like")?.traceparent == header)
        #expect(TraceContext(traceparent: later + ".what") == nil)
        #expect(TraceContext(traceparent: header + "-what") == nil)
        #expect(TraceContext(traceparent: "ff" + header.dropFirst(2)) == nil)
    }

    @Test func `is none where a text is not a whole and exact header`() {
        for end in 0..<55 { #expect(TraceContext(traceparent: String(header.prefix(end))) == nil) }
        let wrong: [String] = [
            header + " ", " " + header, header.uppercased(), header.replacing("-", with: "_"),
            header.replacing("0af7651916cd43dd8448eb211c80319c", with: String(repeating: "0", count: 32)),
            header.replacing("b7ad6b7169203331", with: "0000000000000000"), header.replacing("00-0a", with: "0x-0a"),
            header.replacing("-01", with: "-0g"), header.replacing("-01", with: "-+1"),
            header.replacing("0af7", with: "0äf"),
        ]
        for text in wrong { #expect(TraceContext(traceparent: text) == nil, "\(text)") }
    }

    @Test func `never traps on any text`() {
        var random = SeededRandom(seed: 1)
        let scalars = Array("0123456789abcdefABCDEF-_ \0é𝄞")
        for _ in 0..<20_000 {
            var text = Array(header)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                text[Int.random(in: text.indices, using: &random)] = scalars.randomElement(using: &random) ?? "0"
            }
            if Bool.random(using: &random) { text.removeLast(Int.random(in: 0...55, using: &random)) }
            guard let context = TraceContext(traceparent: String(text)) else { continue }
            #expect(TraceContext(traceparent: context.traceparent) == context)
        }
    }

    @Test func `is that of the task`() async {
        let context = TraceContext(traceparent: header)
        #expect(TraceContext.current == nil)
        await TraceContext.$current.withValue(context) {
            #expect(TraceContext.current == context)
            await Task { #expect(TraceContext.current == context) }.value
        }
        #expect(TraceContext.current == nil)
    }
}

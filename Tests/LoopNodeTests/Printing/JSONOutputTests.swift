import CBOR
import LoopCore
import LoopNode
import TestFolders
import Testing

/// What programs read is JSON under every text: Python reads what all our writers write.
@Suite struct `JSON for programs` {
    /// Texts of all kinds of scalars, with those that have meant trouble in each.
    private var texts: [String] {
        var random = SystemRandomNumberGenerator()
        let special: [ClosedRange<UInt32>] = [0...0xFF, 0x2000...0x206F, 0xFFF0...0xFFFF, 0...0x10FFFF]
        let drawn = (0..<400).map { _ in
            var text = ""
            for _ in 0..<20 {
                let range = special.randomElement(using: &random) ?? special[0]
                if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &random)) {
                    text.unicodeScalars.append(scalar)
                }
            }
            return text
        }
        return drawn + (0...0xFF).map { String(Unicode.Scalar(UInt8($0))) } + ["", "\\u{92}", "\u{92}\u{202E}\u{2069}"]
    }

    @Test func `is read by Python, which finds the same texts and nothing that controls a terminal`() async throws {
        let texts = texts
        var lines: [String] = []
        for text in texts {
            let event = LogEvent(time: WallTime(milliseconds: 0), level: .info, kind: .joined, node: text, text: text)
            for json in [
                try CBOR.json(CBOR.encode(["text": text])), JSONText.object([("text", JSONText.quoted(text))]),
                event.json, PrintableText.json(#"{"text":"\#(Self.leastEscaped(text))"}"#),
            ] {
                // As it is printed.
                #expect(PrintableText.lines(json) == json, "\(json)")
                lines.append("[\(json),[\(text.unicodeScalars.map { "\($0.value)" }.joined(separator: ","))]]")
            }
        }
        let folder = TestFolder()
        folder.write("lines", lines.joined(separator: "\n") + "\n")
        let script = """
            import json, sys
            count = 0
            for line in open(sys.argv[1], encoding="utf-8", newline="\\n"):
                document, scalars = json.loads(line)
                assert [ord(c) for c in document["text"]] == scalars, line
                count += 1
            print(count)
            """
        let mailbox = try Mailbox<String>()
        let child = try ChildProcess(
            .init("python3", ["-c", script, "\(folder.path)/lines"], output: .lines { _, line in mailbox.post(line) }))
        #expect(await child.wait() == .exited(0))
        var said: [String] = []
        mailbox.takeAll(into: &said)
        #expect(said == ["\(lines.count)"])
    }

    /// As a definition may write its outcome: what JSON demands is escaped, and no more.
    private static func leastEscaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x22, 0x5C: escaped += "\\\(scalar)"
            case 0..<0x20: escaped += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

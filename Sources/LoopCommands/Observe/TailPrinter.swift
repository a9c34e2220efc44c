import Glibc
import LoopCluster
import LoopCore
import LoopWire

/// Writes what an observer sees as lines, for people or as JSON; ends after so many transitions.
struct TailPrinter {
    private let isJSON: Bool
    private var left: Int?

    init(isJSON: Bool, countMax: Int?) {
        self.isJSON = isJSON
        left = countMax
    }

    /// Whether as many transitions were printed as are wanted.
    var isDone: Bool { left == 0 }

    mutating func lines(for action: ObserverAction) -> [String] {
        switch action {
        case .transitions(let notes):
            let shown = notes.prefix(left ?? notes.count)
            left = left.map { $0 - shown.count }
            return shown.map { isJSON ? json($0) : text($0) }
        case .missed(let range):
            let count = range.upperBound.value - range.lowerBound.value + 1
            if isJSON {
                return [#"{"missed":{"first":\#(range.lowerBound.value),"last":\#(range.upperBound.value)}}"#]
            }
            return [count == 1 ? "1 transition was missed" : "\(count) transitions were missed"]
        case .ended(let exitCode, _):
            return [isJSON ? #"{"ended":{"exitCode":\#(exitCode)}}"# : "the loop has ended with exit code \(exitCode)"]
        case .send, .state:
            return []
        }
    }

    private func text(_ note: TransitionNote) -> String {
        let source = note.effect.map { "effect \($0)" } ?? "session \(note.session)"
        return "\(Self.time(note.time))  seq \(note.seq.value)  \(source)  \(Self.event(note.event))"
    }

    private func json(_ note: TransitionNote) -> String {
        let effect = note.effect.map { "\"\($0)\"" } ?? "null"
        return #"{"seq":\#(note.seq.value),"time":"\#(Self.time(note.time))","session":\#(note.session.value),"#
            + #""effect":\#(effect),"event":\#(Self.event(note.event))}"#
    }

    private static func event(_ bytes: [UInt8]) -> String { (try? CBOR.json(bytes)) ?? "null" }

    /// As `2026-01-31T13:05:09.120Z` (RFC 3339).
    static func time(_ time: WallTime) -> String {
        let thousandths = ((time.milliseconds % 1000) + 1000) % 1000
        var seconds = Int((time.milliseconds - thousandths) / 1000)
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil else { return "?" }
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let date = [
            digits(Int(parts.tm_year) + 1900, 4), digits(Int(parts.tm_mon) + 1, 2), digits(Int(parts.tm_mday), 2),
        ]
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits(Int($0), 2) }
        let fraction = digits(Int(thousandths), 3)
        return "\(date.joined(separator: "-"))T\(clock.joined(separator: ":")).\(fraction)Z"
    }
}

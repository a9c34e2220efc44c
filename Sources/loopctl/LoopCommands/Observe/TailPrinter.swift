import LoopCluster
import LoopCore
import LoopNode
import LoopWire

/// Writes an observer's transitions as lines, for people or as JSON, up to a number of them.
struct TailPrinter {
    private let isJSON: Bool
    private var left: Int?

    init(isJSON: Bool, countMax: Int?) {
        self.isJSON = isJSON
        left = countMax
    }

    /// Whether the requested number of transitions has been printed.
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
        case .begins, .send, .state, .again, .chunk, .assembled, .delta, .hash, .refused, .standing:
            return []
        }
    }

    private func text(_ note: TransitionNote) -> String {
        let source = note.effect.map { "effect \($0)" } ?? "session \(note.session)"
        return "\(note.time.text)  seq \(note.seq.value)  \(source)  \(JSONText.document(note.event))"
    }

    private func json(_ note: TransitionNote) -> String {
        let effect = note.effect.map { "\"\($0)\"" } ?? "null"
        return #"{"seq":\#(note.seq.value),"time":"\#(note.time.text)","session":\#(note.session.value),"#
            + #""effect":\#(effect),"event":\#(JSONText.document(note.event))}"#
    }

}

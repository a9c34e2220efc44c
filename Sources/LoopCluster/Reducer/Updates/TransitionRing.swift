import LoopCore
import LoopWire

/// The newest transitions, as far as they fit: what somebody who follows the events has missed can be told again.
struct TransitionRing: Sendable {
    private var notes: [TransitionNote] = []
    /// The position of the oldest that is kept.
    private var first = 0
    private(set) var bytes = 0

    /// - Parameter bytesMax: how much is kept.
    mutating func append(_ new: [TransitionNote], bytesMax: Int) {
        // Seqs in it follow each other: those before a gap are of no use.
        if let last = notes.last, let next = new.first, next.seq != last.seq.next { removeAll() }
        notes += new
        for note in new { bytes += note.byteCount }
        while bytes > bytesMax, first < notes.count {
            bytes -= notes[first].byteCount
            first += 1
        }
        if first > 1024, first > notes.count / 2 {
            notes.removeFirst(first)
            first = 0
        }
    }

    mutating func removeAll() { self = TransitionRing() }

    /// Those after a seq, the oldest first; none where the next one is not here any more.
    /// - Parameter bytesMax: how much; at least one where there is one.
    func notes(after seq: Seq, bytesMax: Int) -> ArraySlice<TransitionNote> {
        guard first < notes.count, seq >= Seq(notes[first].seq.value &- 1), seq < notes[notes.count - 1].seq else {
            return []
        }
        let begin = first + Int(seq.value + 1 - notes[first].seq.value)
        var (end, taken) = (begin, 0)
        while end < notes.count, end == begin || taken + notes[end].byteCount <= bytesMax {
            taken += notes[end].byteCount
            end += 1
        }
        return notes[begin..<end]
    }
}

extension TransitionNote {
    /// The bytes that it takes on the wire, at most.
    var byteCount: Int { event.count + 45 }
}

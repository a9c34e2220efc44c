import LoopCore
import LoopWire

/// The newest transitions, as far as they fit, for observers of the events that have missed some.
struct TransitionRing: Sendable {
    private var notes: [TransitionNote] = []
    /// The index of the oldest that is kept.
    private var first = 0
    private(set) var bytes = 0

    /// - Parameter bytesMax: how many bytes are kept.
    mutating func append(_ new: [TransitionNote], bytesMax: Int) {
        // Seqs in the ring are consecutive, so that transitions before a gap are of no use.
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

    /// The transitions after a seq, the oldest first; empty if the next one is no longer kept.
    /// - Parameter bytesMax: how many bytes to return; at least one transition if there is one.
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
    /// The largest number of bytes that it takes on the wire.
    var byteCount: Int { event.count + 45 }
}

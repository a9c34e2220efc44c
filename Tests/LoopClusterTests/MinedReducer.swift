import LoopCluster
import LoopCore
import LoopWire
import Testing

/// The memory of a crash note, and what it held when the loop stepped on a mine: what the next life of the process finds.
final class NoteMemory: @unchecked Sendable {
    let note = CrashNote()
    private(set) var image: [UInt8]?

    static let blank = [UInt8](repeating: 0, count: CrashNote.byteCount)

    init(_ image: [UInt8] = NoteMemory.blank) {
        note.bytes = image
    }

    func freeze() { image = note.bytes }

    func forget() { image = nil }

    /// As a signal handler does it.
    func fault(_ signal: UInt64, thread: UInt64) {
        note.fault(signal: signal, thread: thread)
    }
}

/// A reducer whose loop has mines. Nothing traps here: stepping on one takes a picture of the note, and the next life
/// begins with that picture and the records that were durable before the turn.
struct MinedReducer {
    var bench: ReducerBench
    let memory: NoteMemory
    let finding: CrashFinding
    static let thread: UInt32 = 77

    init(
        policy: EffectPolicy = EffectPolicy(), replaying records: [Record] = [], image: [UInt8] = NoteMemory.blank,
        executable: UInt64 = 1, hasFailing: Bool = false
    ) throws {
        let memory = NoteMemory(image)
        self.memory = memory
        finding = memory.note.begin(history: ReducerBench.history, executable: executable, thread: Self.thread)
        bench = try ReducerBench(
            policy: policy, replaying: records, at: 20_000 + 1000 * Int64(records.count), note: memory.note,
            hasFailing: hasFailing,
            onMine: { memory.freeze() })
        memory.forget()
    }

    /// The process dies in a turn with this batch, and starts again.
    func dying(of batch: Batch, policy: EffectPolicy = EffectPolicy()) throws -> MinedReducer {
        var last = self
        _ = last.bench.push(batch)
        return try MinedReducer(policy: policy, replaying: bench.records, image: try #require(memory.image))
    }

    /// What was journaled after a number of records, except hashes.
    func records(after count: Int) -> [Record] {
        bench.records[count...].filter { if case .stateHash = $0 { false } else { true } }
    }

    var notes: Int { bench.state.notes }
}

extension [Record] {
    /// The numbers of the events among them.
    var events: [UInt64] { compactMap { if case .event(let event) = $0 { event.number } else { nil } } }

    var quarantined: [QuarantineRecord] { compactMap { if case .quarantined(let record) = $0 { record } else { nil } } }
}

import LoopCluster
import LoopCore
import LoopWire

/// Where the simulated process ends in the middle of a reduction. Nothing can stop the machine there, so the moment is kept:
/// the crash note as it stands then, while whatever the machine does afterwards is thrown away with it.
///
/// Belongs to one cluster and is used on its thread only.
package final class TrapSwitch: @unchecked Sendable {
    /// Whether this build of the loop cannot take a `poison` event.
    var isArmed = true
    /// The process ends in the reduction of the next event, whatever it is.
    var endsAtNext = false
    /// The event in whose reduction it ended.
    private(set) var sprung: (event: SlotEvent, isItsFault: Bool)?

    private let memory: UnsafeMutableRawBufferPointer
    private var kept: [UInt8] = []

    package init() {
        memory = .allocate(byteCount: CrashNote.byteCount, alignment: 8)
        memory.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit { memory.deallocate() }

    /// The note of this cluster's reducer, as one process leaves it to the next.
    var note: CrashNote { CrashNote(memory) }

    func reduces(_ event: SlotEvent) {
        guard sprung == nil else { return }
        let isItsFault = isArmed && event.kind == .poison
        guard isItsFault || endsAtNext else { return }
        sprung = (event, isItsFault)
        kept = Array(memory)
    }

    /// The process has ended: the note says what it said at that moment.
    /// - Parameter signal: what a signal handler leaves in the note; 0: nothing.
    func end(signal: UInt64) {
        if sprung != nil {
            memory.copyBytes(from: kept)
            memory.storeBytes(of: signal << 32 | 1, toByteOffset: CrashNote.faultOffset, as: UInt64.self)
        }
        sprung = nil
        endsAtNext = false
    }

    /// A new journal: an old note says nothing.
    func clear() { memory.initializeMemory(as: UInt8.self, repeating: 0) }
}

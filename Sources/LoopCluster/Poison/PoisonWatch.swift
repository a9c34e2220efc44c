import LoopCore
import LoopWire

/// What the reducer machine keeps about events that end the process.
struct PoisonWatch: Sendable {
    /// Entries that the process ended in.
    var suspects: [Suspect] = []
    /// Suspects that this turn has consumed.
    var survivors: [Suspect] = []
    /// The turn holds a suspect, and takes nothing behind it.
    var isAlone = false
    /// What a turn with a suspect has put off, in order.
    var deferred = DeferredBatches()
    /// Quarantined events that operators want to have tried again.
    var retries: [QuarantineRetry] = []
    /// Effects of which an event is in quarantine.
    var effects: Set<EffectID> = []
    /// Lines for people.
    var alarms: [String] = []

    /// Whether entries must be looked at one by one.
    var isWatching: Bool { !suspects.isEmpty || !effects.isEmpty }
}

/// An operator's wish to have a quarantined event applied after all.
struct QuarantineRetry: Equatable, Sendable {
    let id: UInt64
    let who: String
    let number: UInt64
    let route: Route
}

/// Batches that wait for a turn of their own, as many as one turn takes from the sockets; what is beyond comes again.
struct DeferredBatches: Sendable {
    private(set) var batches: [Batch] = []
    private var byteCount = 0
    private static let bytesMax = 16 << 20

    var isEmpty: Bool { batches.isEmpty }

    /// - Returns: whether there was room.
    mutating func append(_ batch: Batch, atMost batchesMax: Int) -> Bool {
        let bytes = batch.entries.byteCount
        guard batches.count < batchesMax, byteCount + bytes <= Self.bytesMax else { return false }
        batches.append(batch)
        byteCount += bytes
        return true
    }

    mutating func takeAll() -> [Batch] {
        defer { self = DeferredBatches() }
        return batches
    }
}
